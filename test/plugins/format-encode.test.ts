import { EventEmitter, once } from 'node:events';
import { request as sendRequest, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import {
  GatewayError,
  ModelEvent,
  type Count,
  type GatewayState,
  type ModelEvents,
} from '@gw2api/gateway/plugin';
import {
  eventsOf,
  fakeFormat,
  fakeHost,
  messageEvents,
  replyOf,
  runStage,
  serveStage,
} from '@gw2api/gateway/testing';
import formatEncode from '#plugins/format-encode.js';

describe('format-encode', () => {
  describe('whole', () => {
    it('answers with one JSON body', async () => {
      const { status, headers, body, state } = await run({ delivery: 'whole' });
      expect(status).to.equal(200);
      expect(headers['content-type']).to.equal('application/json; charset=utf-8');
      expect(body).to.deep.include({ type: 'message', stop_reason: 'end_turn' });
      expect(state.response).to.equal(true);
    });

    it('throws what breaks the answer', async () => {
      const reply = replyOf(eventsOf(broken));
      const { status } = await run({ delivery: 'whole', reply });
      expect(status).to.equal(502);
    });
  });

  describe('a stream', () => {
    it('is text of server-sent events that nobody keeps back', async () => {
      const { headers, body, ctx, outcome } = await run();
      expect(headers).to.include({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
      });
      expect(body).to.match(
        /^event: message_start\n.*event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/s,
      );
      expect(ctx).to.have.property('compress', false);
      expect(outcome).to.equal('completed');
    });

    it('ends as its dialect says where it breaks, and is then a failure', async () => {
      const reply = replyOf(eventsOf(messageEvents()[0]!, broken));
      const { status, body, state, outcome } = await run({ reply });
      expect(status).to.equal(200);
      expect(body).to.include('event: error').and.not.include('message_stop');
      expect(state.trace.failure).to.equal(broken);
      expect(outcome).to.equal('failed');
    });

    it('says that it lives while nothing comes', async () => {
      const upstream = new EventEmitter();
      const server = await serve({ reply: replyOf(onceReady(upstream)) }, { keepAlive: '5ms' });
      const answer = await open(server.origin);
      const first = await read(answer, ': keep-alive\n\n: keep-alive\n\n');
      expect(first).to.match(/^event: message_start\n/);
      upstream.emit('ready');
      expect(await read(answer, 'message_stop"}\n\n')).to.be.a('string');
      await server.close();
    });

    it('is asked for no more than the client takes', async () => {
      let pulled = 0;
      const reply = replyOf(endless(() => (pulled += 1)));
      const server = await serve({ reply });
      const answer = await open(server.origin);
      await once(answer, 'readable');
      await stalled(() => pulled);
      const before = pulled;
      expect(before).to.be.lessThan(1000);
      answer.resume();
      await read(answer, 'x');
      answer.destroy();
      const { outcome } = await server.served;
      expect(outcome).to.equal('abandoned');
      await server.close();
    });

    it('gives the reply up when the client leaves', async () => {
      const ended = new EventEmitter();
      const given = once(ended, 'end');
      const server = await serve({
        reply: replyOf(
          endless(
            () => 1,
            () => ended.emit('end'),
          ),
        ),
      });
      const answer = await open(server.origin);
      answer.destroy();
      await given;
      const { state, outcome } = await server.served;
      expect(outcome).to.equal('abandoned');
      expect(state.trace.failure).to.equal(undefined);
      await server.close();
    });
  });

  describe('a token count', () => {
    const windows = { '5h': { percentUsed: 12.5, resetsAtMs: 1_767_225_600_000 }, '7d': null };

    it('is a number', async () => {
      const { body, headers } = await count({ inputTokens: 12, estimated: false, windows: undefined });
      expect(body).to.deep.equal({ input_tokens: 12 });
      expect(headers).to.not.have.property('x-gw-estimated');
    });

    it('is marked where it is an estimate', async () => {
      const { body, headers } = await count({ inputTokens: 12, estimated: true, windows: undefined });
      expect(body).to.deep.equal({ input_tokens: 12 });
      expect(headers['x-gw-estimated']).to.equal('true');
    });

    it('is the usage of an OAuth account', async () => {
      const { body, headers } = await count({ inputTokens: 12, estimated: true, windows });
      expect(body).to.deep.equal({
        object: 'usage',
        unit: 'percent_used',
        account: 'plan-1',
        '5h': { percent_used: 12.5, resets_at: '2026-01-01T00:00:00.000Z' },
        '7d': null,
      });
      expect(headers).to.not.have.property('x-gw-estimated');
    });

    it('is an estimate instead where the operator wants a number', async () => {
      const options = { countTokens: 'estimate' };
      const { body, headers } = await count({ inputTokens: 12, estimated: true, windows }, options);
      expect(body).to.deep.equal({ input_tokens: 12 });
      expect(headers['x-gw-estimated']).to.equal('true');
    });
  });
});

const broken = new GatewayError('upstream_interrupted', 'It broke.');
const host = fakeHost({ formats: { get: fakeFormat } });

function basics(): Partial<GatewayState> {
  const caller = { kind: 'master', keyId: 'master', name: 'master' } as const;
  return { caller, body: { model: 'm' }, delivery: 'stream', reply: replyOf() };
}

function run(state: Partial<GatewayState> = {}, options: Record<string, unknown> = {}) {
  return runStage(formatEncode, { host, options, state: { ...basics(), ...state } });
}

function serve(state: Partial<GatewayState>, options: Record<string, unknown> = {}) {
  return serveStage(formatEncode, { host, options, state: { ...basics(), ...state } });
}

function count(given: Omit<Count, 'slot'>, options: Record<string, unknown> = {}) {
  return run({ operation: 'count-tokens', count: { slot: 'plan-1', ...given } }, options);
}

async function open(origin: string): Promise<IncomingMessage> {
  const sent = sendRequest(`${origin}/v1/messages`, { method: 'POST', agent: false });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer.on('error', () => undefined).setEncoding('utf8');
}

/** What comes, up to and with the given text. */
async function read(answer: IncomingMessage, end: string): Promise<string> {
  let text = '';
  while (!text.includes(end)) {
    const piece: unknown = answer.read();
    if (typeof piece === 'string') text += piece;
    else await once(answer, 'readable');
  }
  return text;
}

/** A reply that pauses after its first event. */
async function* onceReady(upstream: EventEmitter): ModelEvents {
  const [first, ...others] = messageEvents().map((event) => ModelEvent.of(event));
  yield [first!];
  await once(upstream, 'ready');
  yield others;
}

async function* endless(pull: () => void, end: () => void = () => undefined): ModelEvents {
  const text = 'x'.repeat(10_000);
  try {
    for (;;) {
      pull();
      yield [ModelEvent.of({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })];
      await new Promise(setImmediate);
    }
  } finally {
    end();
  }
}

/** Resolves once a number has stayed the same for many turns of the event loop. */
async function stalled(number: () => number): Promise<void> {
  for (let last = -1, same = 0; same < 200; same = number() === last ? same + 1 : 0) {
    last = number();
    await new Promise(setImmediate);
  }
}
