import { expect } from 'chai';
import type { Decoded } from '#src/plugin/format/index.js';
import type { GatewayState, Intercept, ModelCall } from '#src/plugin/index.js';
import {
  collectEvents,
  eventsOf,
  fakeFormat,
  fakeHost,
  fakeModels,
  messageEvents,
  replyOf,
  runStage,
  type StageOptions,
} from '@gw2api/gateway/testing';
import formatDecode from '#plugins/format-decode.js';
import type { FormatName } from '../support/formats.js';

describe('format-decode', () => {
  const models = fakeModels({ id: 'sonnet-5', aliases: ['sonnet-latest'] });
  const caller = { kind: 'master', keyId: 'master', name: 'master' } as const;
  const run = (
    {
      decoded = {},
      state = {},
      ...rest
    }: Omit<StageOptions, 'state'> & {
      decoded?: Partial<Decoded>;
      state?: Partial<GatewayState>;
      headers?: Record<string, string>;
    } = {},
    body: object = {},
  ) =>
    runStage(formatDecode, {
      host: fakeHost({ models, formats: { get: (name) => fakeFormat(name, decoded) } }),
      state: { caller, body: { model: 'sonnet-5', messages: [], ...body }, ...state },
      ...rest,
    });

  it('gives the request', async () => {
    const { state, nextCalled } = await run({}, { max_tokens: 5 });
    expect(state.request).to.deep.equal({ model: 'sonnet-5', messages: [], max_tokens: 5 });
    expect(nextCalled).to.equal(true);
  });

  it('asks the format of the path', async () => {
    const asked: string[] = [];
    const get = (name: FormatName) => {
      asked.push(name);
      return fakeFormat(name);
    };
    const host = fakeHost({ formats: { get } });
    await run({ host, state: { format: 'chat' } });
    expect(asked).to.deep.equal(['chat']);
  });

  it('delivers a stream where one is asked for', async () => {
    expect((await run({}, { stream: true })).state.delivery).to.equal('stream');
    expect((await run({}, { stream: false })).state.delivery).to.equal('whole');
    expect((await run({}, {})).state.delivery).to.equal('whole');
  });

  it('delivers whole with x-gw-delivery: verified, whatever the body says', async () => {
    const { state } = await run({ headers: { 'x-gw-delivery': 'Verified' } }, { stream: true });
    expect(state.delivery).to.equal('whole');
  });

  it('answers 400 to any other value of that header', async () => {
    const { status, body } = await run({ headers: { 'x-gw-delivery': 'fast' } });
    expect(status).to.equal(400);
    expect(body).to.have.nested.property('error.message', 'x-gw-delivery: must be "verified", not "fast".');
  });

  it('turns an alias into the catalog id and leaves unknown names alone', async () => {
    expect((await run({}, { model: 'sonnet-latest' })).state.request.model).to.equal('sonnet-5');
    expect((await run({}, { model: 'other' })).state.request.model).to.equal('other');
  });

  it('wraps the call as the format says for this request, and leaves other calls alone', async () => {
    const asked: unknown[] = [];
    const call: ModelCall = async ({ max_tokens }) => {
      asked.push(max_tokens);
      return replyOf();
    };
    const intercept: Intercept = (request, call) => call({ ...request, max_tokens: 7 });
    await run({ decoded: { intercept }, call });
    await run({ call });
    expect(asked).to.deep.equal([7, undefined]);
  });

  describe('where a server tool pauses the turn', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const look = { name: 'look', input_schema: {} };

    /** Number of calls for an answer that pauses once. */
    const calls = async (
      format: FormatName,
      tools: unknown,
      { keepsBytes = false, ...decoded }: Partial<Decoded> & { readonly keepsBytes?: boolean } = {},
    ) => {
      let count = 0;
      const call: ModelCall = async () => {
        count += 1;
        const stopReason = count === 1 ? 'pause_turn' : 'end_turn';
        return replyOf(eventsOf(messageEvents({ stopReason })));
      };
      const get = (name: FormatName) => ({ ...fakeFormat(name, decoded), keepsBytes });
      const host = fakeHost({ models, formats: { get } });
      const { state } = await run({ host, state: { format }, call }, { tools });
      await collectEvents(state.reply.events);
      return count;
    };

    it('continues it for callers who cannot, whoever offers the tool', async () => {
      expect(await calls('chat', [look, search])).to.equal(2);
      expect(await calls('responses', [{ type: 'code_execution_20250825', name: 'run' }])).to.equal(2);
    });

    it('leaves it to callers who can', async () => {
      expect(await calls('messages', [search], { keepsBytes: true })).to.equal(1);
    });

    it('leaves requests without a server tool alone', async () => {
      for (const tools of [undefined, [], [look, { ...look, type: 'custom' }]])
        expect(await calls('chat', tools)).to.equal(1);
    });

    it('continues each call of the format’s own interceptor', async () => {
      const intercept: Intercept = async (request, call) => {
        const { events } = await call(request);
        await collectEvents(events);
        return call(request);
      };
      expect(await calls('chat', [search], { intercept })).to.equal(3);
    });
  });

  it('names what was dropped in x-gw-dropped', async () => {
    const { headers, nextCalled } = await run({ decoded: { dropped: ['logprobs', 'tools[2]'] } });
    expect(headers['x-gw-dropped']).to.equal('logprobs, tools[2]');
    expect(nextCalled).to.equal(true);
  });

  it('refuses it instead where the operator wants that', async () => {
    const { status, body } = await run({
      options: { unsupported: 'reject' },
      decoded: { dropped: ['logprobs', 'seed'] },
    });
    expect(status).to.equal(400);
    expect(body).to.have.nested.property('error.code', 'invalid_request');
    expect(body).to.have.nested.property('error.message').that.includes('logprobs, seed');
  });

  it('answers 403 where the key may not use the model', async () => {
    const limited = { ...caller, models: ['sonnet-*'] };
    expect((await run({ state: { caller: limited } }, { model: 'sonnet-latest' })).nextCalled).to.equal(true);
    const { status, body } = await run({ state: { caller: limited } }, { model: 'opus' });
    expect(status).to.equal(403);
    expect(body).to.have.nested.property('error.code', 'forbidden');
    expect(body).to.have.nested.property('error.message', 'This key may not use model "opus".');
  });
});
