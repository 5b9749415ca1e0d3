import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { estimateTokens, type MessagesRequest, type TextBlock, type Usage } from '@gw2api/gateway/plugin';
import { checkBroken } from '../../../plugins/formats/grammar/broken.js';
import {
  broken,
  fixtureNames,
  folder,
  sentEvents,
  withoutEarlyPings,
  type SentEvent,
} from '../../../plugins/formats/streams.js';
import { dialects, formatNames, timelessValue } from '../dialects.js';
import { each } from './each.js';
import { slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { promptOf, startReplay, type Received, type Replay } from './replay.js';

/** Recording in which a service begins anew in the middle of its content. */
const spliced = 'anomaly-spliced-message-start';
const recordings = fixtureNames().filter((name) => name !== spliced);
const masked = new Set<string | undefined>(['message_start', 'message_delta']);
const itself = (name: string) => name;

function recorded(name: string): string {
  return readFileSync(join(folder, `${name}.sse`), 'utf8');
}

/** Answers a request with the recording that its prompt names; a turn that it continues, with the second part. */
function answer(received: Received) {
  if (received.path !== '/v1/messages') return undefined;
  const name = promptOf(received);
  const isContinued = (received.body['messages'] as MessagesRequest['messages']).at(-1)?.role === 'assistant';
  const headers = { 'request-id': 'req_1' };
  return { headers, pieces: [recorded(isContinued ? name.replace('part1', 'part2') : name)] };
}

/** What a recording says, a second start and early pings left out. */
function eventsOf(name: string): readonly SentEvent[] {
  const events = withoutEarlyPings(sentEvents(recorded(name)));
  return events.filter(({ event }, at) => event !== 'message_start' || at === 0);
}

describe('a recorded stream through the gateway', function () {
  this.timeout(30_000);
  let replay: Replay;
  /** All stages, and those that add nothing. */
  let full: GatewayUnderTest;
  let plain: GatewayUnderTest;

  before(async function () {
    if (recordings.length === 0) this.skip();
    replay = await startReplay(answer);
    const slots = [slotAt(replay.url), slotAt(replay.url, { id: 'b' })];
    full = await startGateway({ slots });
    plain = await startGateway({
      slots,
      pipeline: stages({ without: ['persona-inject', 'web-search-tool'] }),
    });
  });
  after(() => Promise.all([full?.close(), plain?.close()]));
  after(() => replay?.close());

  async function streamed(gateway: GatewayUnderTest, format: keyof typeof dialects, name: string) {
    const { path, request } = dialects[format];
    const response = await gateway.post(path, { ...request(name), stream: true });
    expect(response.status).to.equal(200);
    return response.text();
  }

  async function whole(gateway: GatewayUnderTest, format: keyof typeof dialects, name: string) {
    const { path, request } = dialects[format];
    const response = await gateway.post(path, request(name));
    return { response, body: await response.json() };
  }

  for (const format of formatNames) {
    it(`is a valid ${format} stream, whose fold is the whole answer`, async () => {
      for (const gateway of [plain, full])
        await each(recordings, itself, async (name) => {
          const folded = await dialects[format].fold(await streamed(gateway, format, name));
          const { body } = await whole(gateway, format, name);
          expect(timelessValue(dialects[format].whole(body))).to.deep.equal(timelessValue(folded));
        });
    });
  }

  it('comes out of Messages event for event in the text that it came in, but for the name of the model', async () => {
    await each(recordings, itself, async (name) => {
      const [start, ...rest] = sentEvents(await streamed(plain, 'messages', name));
      const [recordedStart, ...recordedRest] = eventsOf(name);
      expect(rest).to.deep.equal(recordedRest);
      expect(parsed(start!)).to.deep.equal(underModel(parsed(recordedStart!), 'sonnet-5'));
    });
  });

  it('has its counts masked in Messages, and nothing else', async () => {
    const [first] = recordings;
    await whole(full, 'messages', first!);
    const { body } = replay.received.findLast(({ path }) => path === '/v1/messages')!;
    const added = [...(body['system'] as TextBlock[]), ...(body['tools'] as object[])];
    const tokens = estimateTokens(added);
    expect(tokens).to.be.greaterThan(10);
    await each(recordings, itself, async (name) => {
      const sent = sentEvents(await streamed(full, 'messages', name));
      const came = eventsOf(name);
      const isUnchanged = ({ event }: SentEvent) => !masked.has(event);
      expect(sent.filter(isUnchanged)).to.deep.equal(came.filter(isUnchanged));
      expect(sent.map(({ event }) => event)).to.deep.equal(came.map(({ event }) => event));
      const known: Usage = {};
      came.forEach((event, at) => {
        if (isUnchanged(event)) return;
        const [before, after] = [takeUsage(parsed(event)), takeUsage(parsed(sent[at]!))];
        expect(underModel(after.rest, '')).to.deep.equal(underModel(before.rest, ''));
        Object.assign(known, before.usage);
        checkMasked(before.usage, after.usage, Math.min(tokens, prompted(known)));
      });
    });
  });

  for (const format of ['chat', 'responses', 'completions'] as const) {
    it(`goes on by itself in ${format} where a search of ours has paused the turn`, async () => {
      const before = replay.received.length;
      const folded = await dialects[format].fold(await streamed(full, format, 'pause-turn-part1'));
      const calls = replay.received.slice(before).filter(({ path }) => path === '/v1/messages');
      expect(calls).to.have.length(2);
      expect(JSON.stringify(folded)).to.include(lastText('pause-turn-part2'));
      const { body } = await whole(full, format, 'pause-turn-part1');
      expect(timelessValue(dialects[format].whole(body))).to.deep.equal(timelessValue(folded));
    });
  }

  it('with a second message_start shows the first one alone', async () => {
    const text = await streamed(full, 'messages', 'anomaly-duplicate-message-start');
    expect(text.match(/^event: message_start$/gm)).to.have.length(1);
    const { body } = await whole(full, 'messages', 'anomaly-duplicate-message-start');
    expect(body).to.have.property('id', 'msg_dup');
    expect(body)
      .to.have.property('content')
      .that.deep.equals([{ type: 'text', text: 'Hello, World!' }]);
  });

  it('in which a service began anew after content is an error, never an answer of two halves', async () => {
    const { event, data } = sentEvents(await streamed(full, 'messages', spliced)).at(-1)!;
    expect(event).to.equal('error');
    expect(JSON.parse(data)).to.have.nested.property('error.message').that.includes('restarted');
    for (const format of formatNames) {
      const { response, body } = await whole(full, format, spliced);
      expect(response.status, format).to.equal(502);
      expect(body).to.have.nested.property('error.code', 'upstream_invalid_response');
    }
  });
});

describe('a recorded stream without message_stop', () => {
  let replay: Replay;
  let gateway: GatewayUnderTest;

  before(async function () {
    if (recordings.length === 0) this.skip();
    replay = await startReplay(answer);
  });
  beforeEach(async () => {
    const account = (key: string) => ({ kind: 'api-key', key });
    const slots = ['a', 'b'].map((id) => slotAt(replay.url, { id, account: account(id) }));
    gateway = await startGateway({ slots, pipeline: stages({ with: { 'upstream-call': { attempts: 2 } } }) });
  });
  afterEach(() => gateway.close());
  after(() => replay?.close());

  const ends = {
    'constructed-cut-inside-tool-block': {
      status: 502,
      code: 'upstream_interrupted',
      type: 'upstream_error',
    },
    'constructed-overloaded-mid-stream': { status: 529, code: 'overloaded_error', type: 'overloaded_error' },
  };

  it('is one of two', () => expect(Object.keys(ends)).to.deep.equal(broken));

  for (const format of formatNames)
    for (const [name, { status, code, type }] of Object.entries(ends)) {
      const { path, request } = dialects[format];
      const calls = (from: number) =>
        replay.received.slice(from).filter(({ path }) => path === '/v1/messages');

      it(`ends in the error event of ${format} and is sent once: ${name}`, async () => {
        const from = replay.received.length;
        const response = await gateway.post(path, { ...request(name), stream: true });
        expect(response.status).to.equal(200);
        const error = checkBroken[format](await response.text());
        expect(error.code ?? error.type).to.equal(
          format === 'messages' ? type : format === 'responses' ? 'server_error' : code,
        );
        expect(calls(from)).to.have.length(1);
      });

      it(`is ${status} for a whole ${format} answer, after another slot was tried: ${name}`, async () => {
        const from = replay.received.length;
        const response = await gateway.post(path, request(name));
        expect(response.status).to.equal(status);
        expect(response.headers.get('x-gw-attempts')).to.equal('2');
        expect(response.headers.get('request-id')).to.equal('req_1');
        const { error } = (await response.json()) as { error: object };
        expect(error).to.include({ type, code }).and.have.property('message').that.is.a('string');
        expect(calls(from).map(({ headers }) => headers['x-api-key'])).to.have.members(['a', 'b']);
      });
    }

  it("passes the upstream's own error event on as it came", async () => {
    const body = dialects.messages.request('constructed-overloaded-mid-stream');
    const response = await gateway.post('/v1/messages', { ...body, stream: true });
    expect(sentEvents(await response.text()).at(-1)).to.deep.equal(
      eventsOf('constructed-overloaded-mid-stream').at(-1),
    );
  });
});

type Json = Readonly<Record<string, unknown>>;

function parsed({ data }: SentEvent): Json {
  return JSON.parse(data) as Json; // every recorded event is an object
}

function underModel(event: Json, model: string): Json {
  return 'message' in event ? { ...event, message: { ...(event['message'] as Json), model } } : event;
}

/** An event without its usage, and that. */
function takeUsage(event: Json): { readonly usage: Usage; readonly rest: Json } {
  if ('message' in event) {
    const { usage, ...message } = event['message'] as Json & { usage: Usage };
    return { usage, rest: { ...event, message } };
  }
  const { usage, ...rest } = event as Json & { usage: Usage };
  return { usage, rest };
}

const counts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'] as const;

/** The tokens of a prompt, wherever they were counted. */
function prompted(usage: Usage): number {
  return counts.reduce((sum, field) => sum + (usage[field] ?? 0), 0);
}

/** Of a report that has all three counts, exactly `tokens` are gone from them; what was written goes with its parts. */
function checkMasked(before: Usage, after: Usage, tokens: number): void {
  expect(Object.keys(after)).to.have.members(Object.keys(before));
  const isWhole = counts.every((field) => typeof before[field] === 'number');
  if (isWhole) expect(prompted(after)).to.equal(prompted(before) - tokens);
  for (const field of counts) expect(after[field] ?? 0).to.be.within(0, before[field] ?? 0);
  const rest = (usage: Usage) => ({
    ...usage,
    ...Object.fromEntries(counts.map((field) => [field, 0])),
    cache_creation: 0,
  });
  expect(rest(after)).to.deep.equal(rest(before));
}

/** What the last text of a recording says. */
function lastText(name: string): string {
  const deltas = eventsOf(name).filter(({ event }) => event === 'content_block_delta');
  const texts = deltas.map((event) => (parsed(event)['delta'] as { readonly text?: string }).text ?? '');
  return JSON.stringify(texts.findLast((text) => text !== '')).slice(1, -1);
}
