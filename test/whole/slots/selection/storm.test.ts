import { expect } from 'chai';
import * as fc from 'fast-check';
import { ask, eventsIn, masterKey, stages, type Pair } from '../../harness.js';
import { callsTo, inFlight, readError, requestLines, startTeam } from '../../kit.js';

const bodies: Readonly<Record<string, (text: string) => object>> = {
  '/v1/messages': (text) => ask(text),
  '/v1/chat/completions': (text) => ({
    model: 'sonnet-5',
    n: 2,
    messages: [{ role: 'user', content: text }],
  }),
  '/v1/responses': (text) => ({ model: 'sonnet-5', input: text }),
  '/v1/completions': (text) => ({ model: 'sonnet-5', prompt: [text, text] }),
};

const faults = [
  '',
  '',
  '',
  '400',
  '429 retry-after-ms=5',
  '500',
  '529',
  'reset',
  'html',
  'empty',
  'cut after=2',
  'cut after=9',
  'end after=9',
  'error after=1',
  'error after=9',
  'not-json after=7',
  'stall after=2',
  'stall after=9',
  'hang',
  'late ms=5',
  'slow ms=1',
  'bytes',
  'gzip',
  'pause n=2',
];

const storm = fc.array(
  fc.record({
    path: fc.constantFrom(...Object.keys(bodies)),
    fault: fc.constantFrom(...faults),
    slot: fc.constantFrom('', ' for=upstream-key-a', ' for=upstream-key-b'),
    stream: fc.boolean(),
    session: fc.constantFrom(undefined, 'one', 'two'),
    /** Leaves after so many turns of the event loop. */
    leaves: fc.option(fc.nat(60)),
  }),
  { minLength: 40, maxLength: 60 },
);

type Asked = typeof storm extends fc.Arbitrary<(infer One)[]> ? One : never;

describe('a storm of requests', () => {
  let team: Pair;
  before(async () => {
    const options = {
      'slot-pick': { queueTimeout: '100ms' },
      'upstream-call': { headersTimeout: '50ms', firstTokenTimeout: '50ms', idleTimeout: '50ms' },
    };
    team = await startTeam(
      { pipeline: stages({ with: options }) },
      { a: { maxConcurrent: 6 }, b: { maxConcurrent: 6 } },
    );
  });
  after(() => team.close());

  it('gets an answer each, whole or broken as its format says, and leaves nothing behind', async () => {
    await fc.assert(
      fc.asyncProperty(storm, async (requests) => {
        const answers = await Promise.all(requests.map(send));
        for (const answer of answers) if (answer) expectSound(answer);
        await team.gateway.exchanges.idle();
        await Promise.all(callsTo(team.simulator).map(({ closed }) => closed));
        expect(inFlight(team)).to.deep.equal([0, 0]);
        expect(team.gateway.services.slots.list().map(({ queued }) => queued)).to.deep.equal([0, 0]);
        for (const id of ['a', 'b']) team.gateway.services.slots.resume(id);
      }),
      { numRuns: 6, endOnFailure: true },
    );
    const lines = await requestLines(team);
    expect(lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    expect(team.logged.filter(({ code }) => code === 'internal')).to.deep.equal([]);
  }).timeout(30_000);

  interface Answer {
    readonly asked: Asked;
    readonly status: number;
    readonly type: string;
    readonly text: string;
  }

  /** Undefined where the caller left. */
  async function send(asked: Asked): Promise<Answer | undefined> {
    const { path, fault, slot, stream, session, leaves } = asked;
    const leave = new AbortController();
    const text = fault === '' ? 'Hello!' : `[[sim:tokens n=12]][[sim:${fault}${slot}]] Search!`;
    const sending = fetch(team.url + path, {
      method: 'POST',
      headers: {
        'x-api-key': masterKey,
        'content-type': 'application/json',
        ...(session && { 'x-session-id': session }),
      },
      body: JSON.stringify({ ...bodies[path]!(text), stream }),
      signal: leave.signal,
    }).then(async (response) => ({
      asked,
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      text: await response.text(),
    }));
    if (leaves === null) return sending;
    const left = sending.catch(() => undefined);
    for (let turn = 0; turn < leaves; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    leave.abort();
    return left;
  }

  function expectSound({ asked, status, type, text }: Answer): void {
    if (status !== 200) return void readError(status, text);
    if (!asked.stream) return void JSON.parse(text);
    expect(type).to.equal('text/event-stream; charset=utf-8');
    expect(text).to.match(/\n\n$/);
    // A Messages stream passes on what nobody has asked to be JSON.
    if (asked.path === '/v1/messages' && asked.fault.startsWith('not-json')) return;
    const events = eventsIn(text) as (Readonly<Record<string, unknown>> | '[DONE]')[];
    const ends = events.filter(
      (event) =>
        event === '[DONE]' ||
        'error' in event ||
        ['message_stop', 'response.failed'].includes(String(event['type'])),
    );
    expect(ends, text).to.have.length(1);
    expect(ends[0]).to.equal(events.at(-1));
  }
});
