import { expect } from 'chai';
import { systemClock } from '#src/plugin/index.js';
import { SpanQueue } from '#src/features/opentelemetry/span-queue.js';

interface Sent {
  /** Buffer of the body. */
  readonly buffer: ArrayBufferLike;
  readonly text: string;
  readonly spans: number;
  readonly done: (isTaken: boolean) => void;
}

describe('the queue of spans', () => {
  const frame = { head: '<é', tail: '>' };
  let sent: Sent[];
  let dropped: number;
  let queue: SpanQueue;

  beforeEach(() => {
    sent = [];
    dropped = 0;
    queue = new SpanQueue({
      frame,
      clock: systemClock,
      send: (body, spans) =>
        new Promise((done) => {
          sent.push({ buffer: body.buffer, text: body.toString(), spans, done });
        }),
      onDropped: (spans) => void (dropped += spans),
    });
  });

  /** Ends the latest export. */
  async function end(isTaken: boolean): Promise<void> {
    sent.at(-1)!.done(isTaken);
    await new Promise(setImmediate);
  }

  it('exports one body at a time, with the spans of a request together', async () => {
    const requests = ['1', '2', '3', '4', '5'].map((digit) => digit.repeat(100_000));
    for (const request of requests) queue.add(request, 18);
    expect(sent.map(({ text }) => text)).to.deep.equal([`<é${requests[0]},${requests[1]}>`]);
    await end(true);
    expect(sent.slice(1).map(({ text }) => text)).to.deep.equal([`<é${requests[2]},${requests[3]}>`]);
    expect(sent[1]!.spans).to.equal(36);
    await end(true);
    const closed = queue.close();
    expect(sent.slice(2).map(({ text }) => text)).to.deep.equal([`<é${requests[4]}>`]);
    await end(true);
    await closed;
  });

  it('counts bytes, not characters, and fills a body to the last one', async () => {
    const room = 256 * 1024 - Buffer.byteLength('<é>') - 1; // and a comma
    queue.add('é'.repeat(100_000), 1);
    queue.add('a'.repeat(room - 200_000), 1);
    expect(sent).to.deep.equal([]);
    queue.add('b', 1);
    expect(sent.map(({ text, spans }) => [Buffer.byteLength(text), spans])).to.deep.equal([[256 * 1024, 2]]);
    await end(true);
  });

  it('drops what it has no room for, and says how many spans', async () => {
    const request = 'x'.repeat(250 * 1024);
    for (let at = 0; at < 100; at += 1) queue.add(request, 10);
    expect(dropped).to.equal((100 - 1 - 64) * 10); // one is under way, and 16 MB wait
    queue.add('x'.repeat(17 * 2 ** 20), 7);
    expect(dropped).to.equal((100 - 1 - 64) * 10 + 7);
    await end(true);
    queue.add(request, 10);
    expect(dropped).to.equal((100 - 1 - 64) * 10 + 7);
  });

  it('exports a request that is longer than a body alone', async () => {
    const long = 'é'.repeat(2 ** 20);
    queue.add('a', 1);
    queue.add(long, 1);
    queue.add('b', 1);
    const closed = queue.close();
    for (const text of ['<éa>', `<é${long}>`, '<éb>']) {
      expect(sent.at(-1)!.text === text, `${text.slice(0, 9)}…`).to.equal(true);
      await end(true);
    }
    await closed;
  });

  it('uses the buffer of a body again once a collector has taken it, and only then', async () => {
    const buffersOf = async (isTaken: boolean) => {
      sent = [];
      for (let at = 0; at < 20; at += 1) {
        queue.add('x'.repeat(200_000), 1);
        if (at > 0) await end(isTaken);
      }
      return new Set(sent.map(({ buffer }) => buffer)).size;
    };
    expect(await buffersOf(false)).to.equal(19);
    expect(await buffersOf(true)).to.be.lessThan(4);
  });

  it('exports what is added in any moment about the end of an export', async () => {
    for (let ticks = 0; ticks < 10; ticks += 1) {
      const texts: string[] = [];
      const send = async (body: Buffer) => texts.push(body.toString()) > 0;
      const own = new SpanQueue({ frame, clock: systemClock, send, onDropped: () => undefined });
      own.add('a', 1);
      const closed = own.close();
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      own.add('b', 1);
      await own.close();
      await closed;
      expect(texts, `after ${ticks} ticks`).to.deep.equal(['<éa>', '<éb>']);
    }
  });

  it('exports what is left when it closes, after the export under way', async () => {
    queue.add('x'.repeat(200_000), 1);
    queue.add('y'.repeat(200_000), 1);
    let isClosed = false;
    const closed = queue.close().then(() => (isClosed = true));
    expect(sent.map(({ text }) => text[2])).to.deep.equal(['x']);
    await end(false);
    expect(sent.map(({ text }) => text[2])).to.deep.equal(['x', 'y']);
    expect(isClosed).to.equal(false);
    await end(true);
    await closed;
  });
});
