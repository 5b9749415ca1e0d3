import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { FinishedSpan } from '#src/features/opentelemetry/finished-span.js';
import { SpanQueue } from '#src/features/opentelemetry/span-queue.js';
import { eventually } from '../../eventually.js';

interface Sent {
  readonly names: readonly string[];
  readonly done: () => void;
}

const origin = { resource: resourceFromAttributes({}), offsetMs: 0 };

/** Spans of a request, which have `bytes` of text each. */
function request(name: string, count: number, bytes = 0): readonly ReadableSpan[] {
  const span = {
    traceId: '1'.repeat(32),
    spanId: '1'.repeat(16),
    parent: undefined,
    state: undefined,
    name,
    kind: 'internal',
    beganMs: 1,
    endedMs: 2,
    attributes: { text: 'x'.repeat(bytes) },
    error: undefined,
  } as const;
  return Array.from({ length: count }, () => new FinishedSpan(span, origin));
}

describe('the queue of spans', () => {
  let sent: Sent[];
  let dropped: number;
  let queue: SpanQueue;

  beforeEach(() => {
    sent = [];
    dropped = 0;
    queue = new SpanQueue({
      send: (spans) => new Promise((done) => void sent.push({ names: spans.map(({ name }) => name), done })),
      onDropped: (spans) => void (dropped += spans),
    });
  });

  /** Ends the latest export. */
  async function end(): Promise<void> {
    sent.at(-1)!.done();
    await new Promise(setImmediate);
  }

  const counts = () => sent.map(({ names }) => names.length);

  it('exports after a second, or once a batch is full, one batch at a time', async () => {
    queue.add(request('a', 18));
    await eventually(() => sent.length === 1);
    expect(counts()).to.deep.equal([18]);
    queue.add(request('b', 1000));
    queue.add(request('c', 100));
    expect(counts()).to.deep.equal([18]);
    await end();
    expect(counts()).to.deep.equal([18, 512]);
    await end();
    expect(counts()).to.deep.equal([18, 512, 512]);
    expect(sent[2]!.names.filter((name) => name === 'c')).to.have.length(24);
    await end();
    await eventually(() => sent.length === 4);
    expect(counts()).to.deep.equal([18, 512, 512, 76]);
    await end();
  });

  it('drops the spans of a request that it has no room for, and says how many', async () => {
    queue.add(request('under way', 512));
    await eventually(() => sent.length === 1);
    const [mega, each] = [2 ** 20, 1024 + 512]; // what the objects of a span count, and its text
    const fit = Math.floor((16 * mega) / (10 * each));
    for (let at = 0; at < fit + 50; at += 1) queue.add(request('a', 10, 512));
    expect(dropped).to.equal(500);
    queue.add(request('long', 1, 17 * mega));
    expect(dropped).to.equal(501);
    queue.add(request('small', 1));
    expect(dropped).to.equal(501);
    await end();
    for (let at = 0; at < 100; at += 1) queue.add(request('b', 10, 512));
    expect(dropped).to.be.within(501 + 400, 501 + 600); // a batch of 512 has left
  });

  it('exports what is added in any moment about the end of an export', async () => {
    for (let ticks = 0; ticks < 10; ticks += 1) {
      const names: string[] = [];
      const send = async (spans: readonly ReadableSpan[]) =>
        void names.push(...spans.map(({ name }) => name));
      const own = new SpanQueue({ send, onDropped: () => undefined });
      own.add(request('a', 512));
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      own.add(request('b', 512));
      await own.close();
      expect(names.length, `after ${ticks} ticks`).to.equal(1024);
      expect(names.at(-1)).to.equal('b');
    }
  });

  it('exports what is left when it closes, after the export under way', async () => {
    queue.add(request('a', 512));
    queue.add(request('b', 700));
    await eventually(() => sent.length === 1);
    let isClosed = false;
    const closed = queue.close().then(() => (isClosed = true));
    expect(counts()).to.deep.equal([512]);
    await end();
    expect(counts()).to.deep.equal([512, 512]);
    await end();
    expect(counts()).to.deep.equal([512, 512, 188]);
    expect(isClosed).to.equal(false);
    await end();
    await closed;
  });
});
