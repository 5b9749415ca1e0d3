import { expect } from 'chai';
import { ManualClock } from '@gw2api/gateway/testing';
import { eventStream } from '../../engine/transport/upstream-kit.js';
import { checkFailed, checkResponses } from '../../plugins/formats/grammar/responses.js';
import {
  eventsIn,
  slotAt,
  stages,
  startGateway,
  startPair,
  type GatewayUnderTest,
  type Pair,
} from '../harness.js';
import { startHeldUpstream, type HeldUpstream } from '../held-upstream.js';
import { errorIn } from '../kit.js';
import { scripted, type Parts, type ScriptedUpstream } from '../scripted-upstream.js';
import { lastRequest, modelCalls } from './sdk-clients.js';
import { SocketClient } from '../socket-client.js';

const model = 'sonnet-5';
const trigger = { type: 'compaction_trigger' };
const conversation = [
  { role: 'user', content: [{ type: 'input_text', text: 'We launch on Tuesday.' }] },
  { role: 'assistant', content: [{ type: 'output_text', text: 'Understood.' }] },
  { type: 'function_call', call_id: 'c1', name: 'tell', arguments: '{}' },
  { type: 'function_call_output', call_id: 'c1', output: 'told' },
];
const tools = [{ type: 'function', name: 'tell', parameters: { type: 'object' } }];
const codex = { originator: 'codex_cli_rs' };

type Item = Readonly<Record<string, unknown>>;

interface Event {
  readonly type: string;
  readonly item?: Item;
  readonly response?: Readonly<Record<string, unknown>> & { readonly id: string };
}

const eventsOf = (text: string) => eventsIn(text).filter((event) => event !== '[DONE]') as readonly Event[];
const itemsOf = (events: readonly Event[]) =>
  events.flatMap(({ type, item }) => (type === 'response.output_item.done' && item ? [item] : []));

describe('a compaction_trigger', () => {
  let pair: Pair;
  before(async () => {
    pair = await startPair();
  });
  after(() => pair.close());

  const compaction = { model, stream: true, store: false, tools, input: [...conversation, trigger] };

  it('is answered by exactly one compaction item, and response.completed', async () => {
    const text = await (await pair.post('/v1/responses', compaction)).text();
    checkResponses(text);
    const events = eventsOf(text);
    expect(itemsOf(events).map(({ type }) => type)).to.deep.equal(['compaction']);
    expect(itemsOf(events)[0]).to.have.property('encrypted_content').that.does.not.include('Tuesday');
    expect(events.at(-1)).to.have.property('type', 'response.completed');
    expect(text).not.to.include('output_text');
  });

  it('asks for a summary without calls, and does not go upstream itself', async () => {
    await (await pair.post('/v1/responses', compaction)).text();
    const { messages, tool_choice: choice } = lastRequest(pair);
    expect(JSON.stringify(messages))
      .to.include('Summarize the conversation')
      .and.not.include('compaction_trigger');
    expect(choice?.type).to.equal('none');
  });

  it('is answered as a whole too', async () => {
    const answer = await pair.post('/v1/responses', { ...compaction, stream: false });
    const { status, output } = (await answer.json()) as { status: string; output: readonly Item[] };
    expect(status).to.equal('completed');
    expect(output.map(({ type }) => type)).to.deep.equal(['compaction']);
  });

  it('gives an item that is read again as the summary', async () => {
    const text = await (await pair.post('/v1/responses', compaction)).text();
    const input = [conversation[0], itemsOf(eventsOf(text))[0], { role: 'user', content: 'Go on.' }];
    const answer = await pair.post('/v1/responses', { model, store: false, input });
    expect(answer.headers.get('x-gw-dropped')).to.equal(null);
    const sent = JSON.stringify(lastRequest(pair).messages);
    expect(sent).to.include('Summary of the conversation so far').and.include('Go on.');
  });

  it('is never stored: what continues the response has the summary', async () => {
    const text = await (await pair.post('/v1/responses', { ...compaction, store: true })).text();
    const id = eventsOf(text).at(-1)?.response?.id ?? '';
    const listed = await (await pair.get(`/v1/responses/${id}/input_items`)).text();
    expect(listed).to.include('We launch on Tuesday.');
    expect(listed).not.to.include('compaction_trigger').and.not.include('Summarize');
    const next = { model, input: 'Go on.', previous_response_id: id };
    expect((await pair.post('/v1/responses', next)).status).to.equal(200);
    const sent = JSON.stringify(lastRequest(pair).messages);
    expect(sent)
      .to.include('Summary of the conversation so far')
      .and.not.include('Summarize the conversation above');
  });

  it('works over a WebSocket, whose next message continues it', async () => {
    const client = await SocketClient.open(pair);
    client.create({ input: [...conversation, trigger], store: false, tools });
    const events = (await client.answer()) as unknown as readonly Event[];
    expect(itemsOf(events).map(({ type }) => type)).to.deep.equal(['compaction']);
    const last = events.at(-1);
    expect(last?.type).to.equal('response.completed');
    const next = await client.ask({
      input: 'Go on.',
      store: false,
      previous_response_id: last?.response?.id,
    });
    expect(next.type).to.equal('response.completed');
    expect(JSON.stringify(lastRequest(pair).messages)).to.include('Summary of the conversation so far');
    await client.close();
  });

  it('is refused where it is not the last item, and without a conversation', async () => {
    const count = modelCalls(pair).length;
    const early = await errorIn(
      await pair.post('/v1/responses', { model, input: [trigger, ...conversation] }),
    );
    expect(early).to.include({ status: 400, code: 'invalid_request' });
    expect(early.message).to.match(/^input\[0\]: is a compaction_trigger, which must be the last/);
    const empty = await errorIn(await pair.post('/v1/responses', { model, input: [trigger] }));
    expect(empty.message).to.match(/^input: or previous_response_id is required/);
    expect(modelCalls(pair)).to.have.length(count);
  });
});

describe('an upstream of Codex', () => {
  let upstream: ScriptedUpstream;
  let under: GatewayUnderTest;
  afterEach(async () => {
    await under.close();
    await upstream.close();
  });

  async function start(status: number, answer: (parts: Parts) => string): Promise<void> {
    upstream = await scripted((request, response, parts) => {
      if (!request.url?.endsWith('/messages')) return void response.writeHead(404).end();
      const headers = status === 200 ? eventStream : { 'content-type': 'application/json' };
      response.writeHead(status, headers).end(answer(parts));
    });
    under = await startGateway({ slots: [slotAt(upstream.url)] });
  }

  const ask = async (fields: object, headers: Readonly<Record<string, string>> = codex) =>
    under.post('/v1/responses', { model, input: 'Hi', stream: true, ...fields }, headers);

  it('that writes no summary makes the compaction fail', async () => {
    await start(200, ({ start: head, text, end, stop }) => head + text(' ') + end + stop);
    const answer = await ask({ input: [...conversation, trigger] });
    const events = eventsOf(await answer.text());
    expect(events.at(-1)).to.have.property('type', 'response.failed');
    expect(itemsOf(events)).to.deep.equal([]);
  });

  const tooLong = JSON.stringify({
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 250000 tokens > 200000 maximum' },
  });

  it('that finds the conversation too long is told of in the stream, where Codex looks for it', async () => {
    await start(400, () => tooLong);
    const answer = await ask({});
    expect(answer.status).to.equal(200);
    const text = await answer.text();
    checkFailed(text);
    expect(eventsOf(text).map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.in_progress',
      'response.failed',
    ]);
    expect(eventsOf(text).at(-1)?.response?.['error']).to.include({ code: 'context_length_exceeded' });
  });

  it('that finds it too long is a 400 to other clients, and where nothing is streamed', async () => {
    await start(400, () => tooLong);
    expect((await ask({}, {})).status).to.equal(400);
    expect((await ask({}, { originator: 'my-codex' })).status).to.equal(400);
    expect((await ask({ stream: false })).status).to.equal(400);
  });
});

describe('a long silence', () => {
  const clock = new ManualClock();
  let upstream: HeldUpstream;
  let under: GatewayUnderTest;
  before(async () => {
    upstream = await startHeldUpstream();
    const pipeline = stages({ with: { 'upstream-call': { idleTimeout: '10m' } } });
    under = await startGateway({ pipeline, slots: [slotAt(upstream.url)] }, {}, clock.now, { clock });
  });
  after(async () => {
    await under.close();
    await upstream.close();
  });

  it('has comments, and after 120 s a response.in_progress that its stream counts', async () => {
    const answering = under.post('/v1/responses', { model, input: 'Hi', stream: true });
    const answer = await upstream.next();
    const reader = (await answering).body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const upTo = async (what: string) => {
      while (!text.includes(what)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`The stream ended without ${what}: ${text}`);
        text += value;
      }
    };
    await upTo('output_text.delta');
    await upTo('\n\n');
    clock.pass(105_000);
    await upTo('\n\n:');
    expect(text.match(/in_progress\n/g)).to.have.length(1);
    clock.pass(15_000);
    await upTo(': keep-alive\n\nevent: response.in_progress\n');
    answer.finish();
    await upTo('[DONE]');
    const events = eventsOf(text);
    expect(events.filter(({ type }) => type === 'response.in_progress')).to.have.length(2);
    expect(events.map((event) => (event as { sequence_number?: number }).sequence_number)).to.deep.equal(
      events.map((_, at) => at),
    );
  });

  it('has it over a WebSocket', async () => {
    const client = await SocketClient.open(under);
    client.create({ input: 'Hi' });
    const answer = await upstream.next();
    while ((await client.next()).type !== 'response.output_text.delta');
    for (let seconds = 0; seconds < 120; seconds += 30) {
      const pinged = new Promise((resolve) => void client.socket.once('ping', resolve));
      clock.pass(30_000);
      await pinged;
      await new Promise((resolve) => {
        client.socket.ping('', true, () => undefined);
        client.socket.once('pong', resolve);
      });
    }
    expect((await client.next()).type).to.equal('response.in_progress');
    answer.finish();
    expect((await client.answer()).at(-1)?.type).to.equal('response.completed');
    await client.close();
  });
});
