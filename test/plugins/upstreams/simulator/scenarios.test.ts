import { gunzipSync, brotliDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import type { MessagesStreamEvent } from '@gw2api/gateway/plugin';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ask, grammarProblem, headers, parseEvents, post, refusal, saying, stream } from './caller.js';
import { clockAt } from '../../../clock-at.js';

const look = { name: 'look', input_schema: { type: 'object', properties: { at: { type: 'string' } } } };
const write = { name: 'write', input_schema: { type: 'object', properties: {} } };
const types = (events: readonly MessagesStreamEvent[]): string[] => events.map(({ type }) => type);
const textOf = (events: readonly MessagesStreamEvent[]): string => textDeltas(events).join('');

function textDeltas(events: readonly MessagesStreamEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === 'content_block_delta' && event.delta.type === 'text_delta' ? [event.delta.text] : [],
  );
}

/** The bytes of a streamed answer, up to where it ended or broke; and what broke it. */
async function bytesOf(
  simulator: Simulator,
  text: string,
): Promise<{ bytes: Buffer; chunks: number; error?: unknown }> {
  const { body } = await post(simulator, saying(text, { stream: true }));
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch (error) {
    return { bytes: Buffer.concat(chunks), chunks: chunks.length, error };
  }
  return { bytes: Buffer.concat(chunks), chunks: chunks.length };
}

async function statusOf(
  simulator: Simulator,
  text: string,
  path = '/v1/messages',
  key = 'test-key',
): Promise<number> {
  const { max_tokens, ...request } = saying(text) as { max_tokens: number };
  const body = path.endsWith('count_tokens') ? request : { ...request, max_tokens };
  const answer = await post(simulator, body, { path, headers: { ...headers, 'x-api-key': key } });
  await answer.body.dump();
  return answer.statusCode;
}

describe('the scenarios of the simulator', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator({ clock: clockAt(() => 1_700_000_000_500) });
  });
  after(() => simulator.close());

  describe('that strike before the answer', () => {
    const errors = {
      400: 'invalid_request_error',
      401: 'authentication_error',
      403: 'permission_error',
      404: 'not_found_error',
      413: 'request_too_large',
      429: 'rate_limit_error',
      500: 'api_error',
      502: 'api_error',
      503: 'api_error',
      504: 'timeout_error',
      529: 'overloaded_error',
    };
    for (const [status, type] of Object.entries(errors)) {
      it(`answer ${status} with ${type}`, async () => {
        const { message, ...rest } = await refusal(simulator, saying(`Hi [[sim:${status}]]`));
        expect(rest).to.deep.equal({ status: Number(status), type });
        expect(message).to.be.a('string').that.is.not.empty;
      });
    }

    it('carry retry-after, x-should-retry, a message and details', async () => {
      const marker =
        '[[sim:429 retry-after=2 retry-after-ms=1500 x-should-retry=false message="Too soon" code=why]]';
      const answer = await post(simulator, saying(marker));
      expect(answer.headers).to.include({
        'retry-after': '2',
        'retry-after-ms': '1500',
        'x-should-retry': 'false',
      });
      expect(await answer.body.json()).to.deep.include({
        type: 'error',
        error: { type: 'rate_limit_error', message: 'Too soon', details: { error_code: 'why' } },
        request_id: answer.headers['request-id'],
      });
    });

    it('spend a window, with its reset in seconds', async () => {
      const answer = await post(simulator, saying('[[sim:window-exhausted in=60]]'));
      await answer.body.dump();
      expect(answer.statusCode).to.equal(429);
      expect(answer.headers).to.include({
        'retry-after': '60',
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-5h-status': 'rejected',
        'anthropic-ratelimit-unified-5h-reset': '1700000061',
        'anthropic-ratelimit-unified-5h-utilization': '1.0',
      });
    });

    it('hold for one credential, for the first times, or for one operation', async () => {
      expect(await statusOf(simulator, '[[sim:529 for=one]]', undefined, 'one')).to.equal(529);
      expect(await statusOf(simulator, '[[sim:529 for=one]]', undefined, 'two')).to.equal(200);
      const limited = [1, 2, 3].map(() => statusOf(simulator, '[[sim:503 times=2]]'));
      expect((await Promise.all(limited)).toSorted((a, b) => a - b)).to.deep.equal([200, 503, 503]);
      expect(await statusOf(simulator, 'Another [[sim:503 times=2]]')).to.equal(503);
      const counts = '/v1/messages/count_tokens';
      expect(await statusOf(simulator, '[[sim:500 on=count-tokens]]', counts)).to.equal(500);
      expect(await statusOf(simulator, '[[sim:500 on=count-tokens]]')).to.equal(200);
    });

    it('come from the last user message only', async () => {
      const messages = [
        { role: 'user', content: '[[sim:529]]' },
        { role: 'assistant', content: 'No.' },
        { role: 'user', content: [{ type: 'text', text: 'And now?' }] },
      ];
      expect((await ask(simulator, saying('', { messages }))).stop_reason).to.equal('end_turn');
    });

    it('may be laid on every request by a test', async () => {
      simulator.faults.push('529 times=1');
      expect((await refusal(simulator, saying('Hi'))).status).to.equal(529);
      expect((await ask(simulator, saying('Hi'))).stop_reason).to.equal('end_turn');
      simulator.faults.length = 0;
    });

    it('close the connection without an answer', async () => {
      const arrived = simulator.nextRequest();
      const error = await post(simulator, saying('[[sim:reset]]')).catch((cause: unknown) => cause);
      expect(error).to.be.instanceOf(Error);
      expect(await (await arrived).closed).to.equal('destroyed');
    });

    it('give a page of HTML', async () => {
      const answer = await post(simulator, saying('[[sim:html]]', { stream: true }));
      expect(answer.headers['content-type']).to.match(/^text\/html/);
      expect(await answer.body.text()).to.match(/^<!doctype html>/);
    });

    it('wait before the headers', async () => {
      const arrived = simulator.nextRequest();
      const answered = ask(simulator, saying('[[sim:late ms=30]]'));
      expect((await arrived).status).to.equal(undefined);
      expect((await answered).stop_reason).to.equal('end_turn');
    });

    it('are refused by name where there is no such', async () => {
      expect(await refusal(simulator, saying('[[sim:unheard-of]]'))).to.include({
        status: 400,
        message: 'simulator: unknown scenario "unheard-of"',
      });
    });
  });

  describe('that never end', () => {
    for (const name of ['hang', 'late ms=600000', 'stall', 'stall after=3', 'slow ms=600000']) {
      it(`let the caller go at once: ${name}`, async () => {
        const leave = new AbortController();
        const arrived = simulator.nextRequest();
        const answered = post(simulator, saying(`[[sim:${name}]]`, { stream: true }), {
          signal: leave.signal,
        });
        const exchange = await arrived;
        if (name.startsWith('s')) expect((await answered).statusCode).to.equal(200);
        leave.abort();
        await answered
          .then(({ body }) => body.dump())
          .catch((error: unknown) => expect(error).to.have.property('name', 'AbortError'));
        expect(await exchange.closed).to.equal('aborted');
        expect(exchange.eventsWritten).to.be.lessThan(4);
      });
    }
  });

  describe('that break the answer off', () => {
    it('cut the socket after so many events', async () => {
      const { bytes, error } = await bytesOf(simulator, '[[sim:cut after=4]]');
      expect(types(parseEvents(bytes.toString()))).to.deep.equal([
        'message_start',
        'ping',
        'content_block_start',
        'content_block_delta',
      ]);
      expect(error).to.be.an('error');
    });

    it('end cleanly without message_stop', async () => {
      const { bytes, error } = await bytesOf(simulator, '[[sim:end after=4]]');
      expect(error).to.equal(undefined);
      expect(parseEvents(bytes.toString())).to.have.length(4);
    });

    it('send an error event', async () => {
      const events = await stream(simulator, saying('[[sim:error after=2 type=api_error message="Oh no"]]'));
      expect(events).to.have.length(3);
      expect(events.at(-1)).to.deep.equal({ type: 'error', error: { type: 'api_error', message: 'Oh no' } });
    });

    it('are HTTP errors and broken bodies in a whole answer', async () => {
      expect(await refusal(simulator, saying('[[sim:error]]'))).to.include({
        status: 529,
        message: 'Overloaded',
      });
      const { body } = await post(simulator, saying('[[sim:end]]'));
      expect(await body.text()).to.equal('{"id":"msg_');
    });

    it('send an event that is not JSON and go on', async () => {
      const { bytes } = await bytesOf(simulator, '[[sim:not-json after=3]]');
      expect(() => parseEvents(bytes.toString())).to.throw(SyntaxError);
      expect(bytes.toString()).to.include('event: message_stop');
    });
  });

  describe('that change what the answer says', () => {
    it('leave only message_start and message_stop', async () => {
      expect(types(await stream(simulator, saying('[[sim:empty]]')))).to.deep.equal([
        'message_start',
        'message_stop',
      ]);
      expect(await ask(simulator, saying('[[sim:empty]]'))).to.deep.include({
        content: [],
        stop_reason: null,
      });
    });

    it('end the turn without blocks, or refuse', async () => {
      expect(await ask(simulator, saying('[[sim:empty-turn]]'))).to.deep.include({
        content: [],
        stop_reason: 'end_turn',
      });
      const refused = await ask(simulator, saying('[[sim:refusal]]'));
      expect(refused).to.deep.include({ content: [], stop_reason: 'refusal' });
      expect(refused['stop_details']).to.include({ type: 'refusal' });
    });

    it('give so many deltas of one size', async () => {
      const deltas = textDeltas(await stream(simulator, saying('[[sim:tokens n=64]]')));
      expect(deltas).to.deep.equal(Array.from({ length: 64 }, () => ' tok'));
    });

    it('give a text of so many kilobytes beyond max_tokens', async () => {
      const events = await stream(simulator, saying('[[sim:size kb=100]]', { max_tokens: 1 }));
      expect(textOf(events)).to.have.length(102_400);
      expect(grammarProblem(events)).to.equal(undefined);
    });

    it('say a text, or echo a part of the request', async () => {
      expect(textOf(await stream(simulator, saying('[[sim:say text="two words"]]')))).to.equal('two words');
      const echo = async (part: string): Promise<unknown> =>
        JSON.parse(textOf(await stream(simulator, saying(`[[sim:echo${part}]]`, { system: 'Be brief.' }))));
      expect(await echo('=system')).to.equal('Be brief.');
      expect(await echo('=messages.0.role')).to.equal('user');
      expect(await echo('=headers.anthropic-version')).to.equal('2023-06-01');
      expect(await echo('')).to.include({ model: 'sonnet-5', max_tokens: 4096 });
    });

    it('split surrogate pairs over deltas', async () => {
      const deltas = textDeltas(await stream(simulator, saying('[[sim:surrogates]]')));
      expect(deltas).to.include('\ud83c').and.to.include('\udf0d');
      expect(deltas.join('')).to.equal('Pairs: 🌍🚀👩‍🚀 done.');
    });

    it('call a tool, several, or one without arguments', async () => {
      const called = async (text: string): Promise<[string, unknown][]> =>
        (await ask(simulator, saying(text, { tools: [look, write] }))).content.map(({ name, input }) => [
          String(name),
          input,
        ]);
      expect((await called('[[sim:tool name=write]]')).map(([name]) => name)).to.deep.equal(['write']);
      expect((await called('[[sim:parallel n=3]]')).map(([name]) => name)).to.deep.equal([
        'look',
        'write',
        'look',
      ]);
      expect(await called('[[sim:no-args]]')).to.deep.equal([['look', {}]]);
      const ids = (await ask(simulator, saying('[[sim:parallel]]', { tools: [look] }))).content.map(
        ({ id }) => id,
      );
      expect(new Set(ids)).to.have.property('size', 2);
    });

    it('interleave text, thinking and tools', async () => {
      const { content, stop_reason } = await ask(simulator, saying('[[sim:interleave]]', { tools: [look] }));
      expect(content.map(({ type }) => type)).to.deep.equal([
        'text',
        'thinking',
        'tool_use',
        'text',
        'thinking',
        'tool_use',
      ]);
      expect(stop_reason).to.equal('tool_use');
    });

    it('pause in a search and go on when the answer is sent back, so many times', async () => {
      const question = { role: 'user', content: 'Find rain. [[sim:pause n=2]]' };
      const messages: object[] = [question];
      const turns: [string | null, string[]][] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        const { content, stop_reason } = await ask(simulator, saying('', { messages }));
        messages.push({ role: 'assistant', content });
        turns.push([stop_reason, content.map(({ type }) => type)]);
      }
      expect(turns).to.deep.equal([
        ['pause_turn', ['text', 'server_tool_use']],
        ['pause_turn', ['web_search_tool_result', 'text', 'server_tool_use']],
        ['end_turn', ['web_search_tool_result', 'text', 'text', 'text', 'text']],
      ]);
    });

    it('put unknown events, blocks and deltas among the others', async () => {
      const events = await stream(simulator, saying('[[sim:unknown-events]]'));
      const found = JSON.stringify(events);
      for (const type of ['future_event', 'future_block', 'future_delta']) expect(found).to.include(type);
      const known = events.filter(({ type }) => !type.startsWith('future'));
      expect(grammarProblem(known)).to.equal(undefined);
    });

    it('begin twice', async () => {
      const events = types(await stream(simulator, saying('[[sim:double-start]]')));
      expect(events.filter((type) => type === 'message_start')).to.have.length(2);
      expect(events.at(-1)).to.equal('message_stop');
    });

    it('set the usage windows', async () => {
      const answer = await post(simulator, saying('[[sim:windows 5h=0.42 status=allowed_warning]]'));
      await answer.body.dump();
      expect(answer.headers).to.include({
        'anthropic-ratelimit-unified-5h-utilization': '0.42',
        'anthropic-ratelimit-unified-5h-status': 'allowed_warning',
        'anthropic-ratelimit-unified-7d-utilization': '0.03',
      });
    });
  });

  describe('that change the bytes only', () => {
    const variants: readonly [string, (bytes: Buffer) => Buffer, RegExp][] = [
      ['crlf', (bytes) => bytes, /^event: message_start\r\ndata: .*\r\n\r\nevent: ping/],
      ['cr', (bytes) => bytes, /^event: message_start\rdata: [^\n]*\r\revent: ping/],
      ['bom', (bytes) => bytes, /^\ufeffevent: message_start\n/],
      ['comments', (bytes) => bytes, /^: about message_start\nevent: message_start\n:\ndata: /],
      ['no-event-line', (bytes) => bytes, /^data: .*\n\ndata: /],
      ['done', (bytes) => bytes, /data: \[DONE\]\n\n$/],
      ['bytes', (bytes) => bytes, /^event: message_start\n/],
      ['slow ms=0', (bytes) => bytes, /^event: message_start\n/],
      ['gzip', gunzipSync, /^event: message_start\n/],
      ['br', brotliDecompressSync, /^event: message_start\n/],
    ];
    for (const [name, decode, form] of variants) {
      it(`give the same events: ${name}`, async () => {
        const { bytes } = await bytesOf(simulator, `Hi [[sim:${name}]]`);
        const text = decode(bytes).toString();
        expect(text).to.match(form);
        const events = parseEvents(text);
        expect(textOf(events)).to.equal('This is the gw2api simulator, not a model. You said: Hi');
        expect(grammarProblem(events)).to.equal(undefined);
      });
    }

    it('come one byte at a time', async () => {
      const { bytes, chunks } = await bytesOf(simulator, 'Hi [[sim:bytes]]');
      expect(chunks).to.be.greaterThan(bytes.length / 4);
    });
  });
});
