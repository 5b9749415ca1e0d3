import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import { Kit, sse as anEvent } from '../../../engine/transport/upstream-kit.js';
import { ask, masterKey, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';

/** 10 USD per million tokens of every sort: each token is 10,000 nano-USD. */
const price = { input: 10, output: 10, cacheRead: 10, cacheWrite5m: 10, cacheWrite1h: 10 };
const piece = 'three words here, ';
const pieces = 60;

describe('an answer that is cut off', () => {
  const kit = new Kit();
  let under: GatewayUnderTest;
  afterEach(async () => {
    await under.close();
    await kit.close();
  });

  /** A gateway over a server whose call `n` (from 0) `serve` answers, once its body was read. */
  async function start(
    upstream: 'messages' | 'chat',
    serve: (response: ServerResponse, n: number) => void,
    settings: object = {},
    config: object = {},
  ): Promise<{ readonly asked: Promise<unknown>; readonly left: Promise<unknown> }> {
    const asked = new EventEmitter();
    const [come, leave] = [once(asked, 'come'), once(asked, 'leave')];
    let calls = 0;
    const url = await kit.serve(async (request, response) => {
      request.resume();
      await once(request, 'end');
      response.on('close', () => asked.emit('leave'));
      serve(response, calls++);
      asked.emit('come');
    });
    const account = upstream === 'chat' ? { kind: 'bearer', token: 'key' } : { kind: 'api-key', key: 'key' };
    const slot = slotAt(url, { upstream, account, price, ...settings });
    const without = ['persona-inject', 'web-search-tool'];
    under = await startGateway({ slots: [slot], pipeline: stages({ without }), ...config });
    return { asked: come, left: leave };
  }

  function send(signal?: AbortSignal, fields: object = {}): Promise<Response> {
    return fetch(`${under.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': masterKey, 'content-type': 'application/json' },
      body: JSON.stringify(ask('Tell me', { stream: true, ...fields })),
      ...(signal && { signal }),
    });
  }

  async function theRow(): Promise<LedgerRow> {
    const { ledger, store } = under.gateway.services;
    await under.gateway.exchanges.idle();
    await ledger.flush();
    const { rows } = await store.ledger.requests({}, { limit: 10 });
    expect(rows).to.have.length(1);
    return rows[0]!;
  }

  /** Reads until all pieces have come, then hangs up. */
  async function hangUp(
    { left }: { readonly left: Promise<unknown> },
    fields: object = {},
  ): Promise<LedgerRow> {
    const leaving = new AbortController();
    const { body } = await send(leaving.signal, fields);
    let text = '';
    for await (const bytes of body!.pipeThrough(new TextDecoderStream())) {
      text += bytes;
      if (text.split(piece).length > pieces) break;
    }
    leaving.abort();
    await left;
    return theRow();
  }

  const outputOf = (bytes: number) => Math.ceil(bytes / 3) + 64;

  it('of a Chat upstream costs its input and what has come of its output', async () => {
    const upstream = await start('chat', sayInChunks);
    const row = await hangUp(upstream);
    expect(row).to.include({ status: 200, failed: false, estimated: true });
    expect(row.billed.output).to.equal(outputOf(piece.length * pieces));
    expect(row.billed.input).to.be.within(5, 60);
    expect(row.shown).to.deep.equal(row.billed);
    expect(row.cost!.billed).to.equal((row.billed.input + row.billed.output) * 10_000);
  });

  it('of a Messages upstream costs the input that it has told', async () => {
    const row = await hangUp(await start('messages', sayInEvents));
    expect(row.billed).to.deep.include({ input: 40, output: outputOf(piece.length * pieces) });
    expect(row).to.include({ estimated: true });
  });

  it('costs the same with spaces in its JSON, and in thinking', async () => {
    const spaced = (event: object) => JSON.stringify(event, null, 1).replaceAll(/\n */g, ' ');
    const thinking = { type: 'thinking', thinking: '', signature: '' };
    const upstream = await start('messages', (response) => {
      begin(response, { input_tokens: 40, output_tokens: 1 });
      const write = (event: { readonly type: string }) =>
        void response.write(`event: ${event.type}\ndata: ${spaced(event)}\n\n`);
      write({ type: 'content_block_start', index: 0, content_block: thinking } as never);
      for (let n = 0; n < pieces; n += 1)
        write({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'thinking_delta', thinking: piece },
        } as never);
    });
    expect((await hangUp(upstream)).billed.output).to.equal(outputOf(piece.length * pieces));
  });

  it('costs no more output than its max_tokens, and no less than it was told', async () => {
    const row = await hangUp(await start('messages', sayInEvents), { max_tokens: 100 });
    expect(row.billed.output).to.equal(100);
  });

  it('costs input and the least output where its caller leaves before anything has come', async () => {
    const { asked, left } = await start('chat', () => undefined);
    const leaving = new AbortController();
    const sent = send(leaving.signal).catch(() => undefined);
    await asked;
    leaving.abort();
    await Promise.all([sent, left]);
    const row = await theRow();
    expect(row.billed.output).to.equal(64);
    expect(row.billed.input).to.be.within(5, 60);
    expect(row).to.include({ status: 499, estimated: true });
  });

  it('that fails after its start costs what has come of it', async () => {
    await start('messages', (response) => {
      sayInEvents(response);
      setImmediate(() => response.destroy());
    });
    await (await send()).text();
    const row = await theRow();
    expect(row.billed).to.deep.include({ input: 40, output: outputOf(piece.length * pieces) });
    expect(row).to.include({ failed: true, estimated: true });
  });

  it('costs beside the answer of another call', async () => {
    await start('messages', (response, n) => {
      begin(response, { input_tokens: 40, output_tokens: 1 });
      if (n === 0) return void setImmediate(() => response.destroy());
      say(response);
      end(response);
    });
    await (await send()).text();
    const row = await theRow();
    expect(row.attempts).to.equal(2);
    expect(row.billed).to.deep.include({ input: 80, output: 64 + 7 });
    expect(row).to.include({ failed: false, estimated: true });
  });

  it('is no call that was refused, or that was silent until a timeout', async () => {
    await start(
      'messages',
      (response, n) => {
        if (n === 0)
          response.writeHead(529, { 'content-type': 'application/json' }).end(JSON.stringify(overloaded));
        else if (n === 1) response.writeHead(200, events).write(sse(overloaded));
        else if (n === 2) response.writeHead(200, events).write(sse({ type: 'ping' }));
      },
      {},
      { pipeline: patient(['persona-inject', 'web-search-tool']) },
    );
    await (await send()).text();
    const row = await theRow();
    expect(row.attempts).to.equal(3);
    expect(row.billed).to.deep.include({ input: 0, output: 0 });
    expect(row).not.to.have.property('estimated');
    expect(row.cost).to.deep.equal({ billed: 0, shown: 0 });
  });

  it('is none that has come whole, whose cost is exact', async () => {
    await start('messages', (response) => {
      begin(response, { input_tokens: 40, output_tokens: 1 });
      say(response);
      end(response);
    });
    await (await send()).text();
    const row = await theRow();
    expect(row.billed).to.deep.include({ input: 40, output: 7 });
    expect(row).not.to.have.property('estimated');
  });

  it('shows its caller what was billed less the additions', async () => {
    const { asked, left } = await start(
      'messages',
      () => undefined,
      {},
      { pipeline: stages({ without: ['web-search-tool'] }) },
    );
    const leaving = new AbortController();
    const sent = send(leaving.signal).catch(() => undefined);
    await asked;
    leaving.abort();
    await Promise.all([sent, left]);
    const { billed, shown } = await theRow();
    expect(shown.output).to.equal(billed.output);
    expect(shown.input).to.be.within(5, 60);
    expect(billed.input).to.be.above(shown.input);
  });
});

const events = { 'content-type': 'text/event-stream' };
const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };

/** The default stages with a short wait for content, and three calls in the one slot. */
function patient(without: readonly string[]): readonly object[] {
  return stages({ without, with: { 'upstream-call': { attempts: 3, firstTokenTimeout: '200ms' } } });
}

function sayInChunks(response: ServerResponse): void {
  const chunk = (content: string) =>
    sseData({
      id: 'c',
      object: 'chat.completion.chunk',
      model: 'm',
      choices: [{ index: 0, delta: { content } }],
    });
  response.writeHead(200, events).write(Array.from({ length: pieces }, () => chunk(piece)).join(''));
}

function sayInEvents(response: ServerResponse): void {
  begin(response, { input_tokens: 40, output_tokens: 1 });
  say(response);
}

function begin(response: ServerResponse, usage: object): void {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
  };
  response.writeHead(200, events).write(sse({ type: 'message_start', message: { ...message, usage } }));
}

function say(response: ServerResponse): void {
  response.write(sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }));
  const delta = sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } });
  response.write(delta.repeat(pieces));
}

function end(response: ServerResponse): void {
  response.write(sse({ type: 'content_block_stop', index: 0 }));
  const delta = { stop_reason: 'end_turn', stop_sequence: null };
  response.write(sse({ type: 'message_delta', delta, usage: { output_tokens: 7 } }));
  response.end(sse({ type: 'message_stop' }));
}

/** Not a type of the SDK: its fields are the test's. */
function sse(fields: { readonly type: string } & Readonly<Record<string, unknown>>): string {
  return anEvent(fields);
}

function sseData(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
