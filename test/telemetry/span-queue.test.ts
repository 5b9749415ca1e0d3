import { expect } from 'chai';
import { systemClock } from '#src/plugin/internal.js';
import { SpanQueue } from '#src/telemetry/otel/span-queue.js';

interface Sent {
  readonly spans: readonly string[];
  readonly count: number;
  readonly done: () => void;
}

describe('the queue of spans', () => {
  let sent: Sent[];
  let dropped: number;
  let queue: SpanQueue;

  beforeEach(() => {
    sent = [];
    dropped = 0;
    queue = new SpanQueue({
      clock: systemClock,
      send: (spans, count) => new Promise((done) => void sent.push({ spans, count, done })),
      onDropped: (count) => void (dropped += count),
    });
  });

  it('exports one batch at a time, with the spans of a request together', async () => {
    for (let at = 0; at < 4; at += 1) queue.add(`request ${at}`, 300);
    expect(sent.map(({ spans }) => spans)).to.deep.equal([['request 0', 'request 1']]);
    sent[0]!.done();
    await new Promise(setImmediate);
    expect(sent.map(({ spans }) => spans)).to.deep.equal([
      ['request 0', 'request 1'],
      ['request 2', 'request 3'],
    ]);
    expect(sent[1]!.count).to.equal(600);
    sent[1]!.done();
  });

  it('drops what it has no room for, and says how many spans', async () => {
    for (let at = 0; at < 100; at += 1) queue.add('x', 100);
    expect(dropped).to.equal(100 * 100 - 600 - 8100); // under way, and in the queue
    queue.add('x'.repeat(17 * 2 ** 20), 1);
    expect(dropped).to.equal(100 * 100 - 600 - 8100 + 1);
  });

  it('exports a few long ones at a time, as a collector takes no text of any length', async () => {
    for (let at = 0; at < 3; at += 1) queue.add('x'.repeat(2 ** 21), 1);
    const closed = queue.close();
    await new Promise(setImmediate);
    for (let at = 0; at < 3; at += 1) {
      expect(sent.map(({ count }) => count)).to.deep.equal(Array(at + 1).fill(1));
      sent[at]!.done();
      await new Promise(setImmediate);
    }
    await closed;
  });

  it('exports what is left when it closes, after the batch under way', async () => {
    queue.add('first', 512);
    queue.add('second', 3);
    let isClosed = false;
    const closed = queue.close().then(() => (isClosed = true));
    await new Promise(setImmediate);
    expect(sent.map(({ spans }) => spans)).to.deep.equal([['first']]);
    expect(isClosed).to.equal(false);
    sent[0]!.done();
    await new Promise(setImmediate);
    expect(sent.map(({ spans }) => spans)).to.deep.equal([['first'], ['second']]);
    sent[1]!.done();
    await closed;
  });
});
