import { expect } from 'chai';
import { array, assert, asyncProperty, integer, json } from 'fast-check';
import { ManualClock } from '#src/kit/time/manual-clock.js';
import { FrameReader, FrameWriter, WireFault } from '#src/engine/isolation/wire/frames.js';

/** Frames of these messages. */
async function framed(messages: readonly unknown[]): Promise<readonly Buffer[]> {
  const frames: Buffer[] = [];
  const writer = new FrameWriter({ write: (frame: Buffer) => frames.push(frame) > 0 });
  for (const message of messages) writer.send(message);
  await new Promise(setImmediate);
  return frames;
}

function readAll(chunks: readonly Buffer[], maxBytes = Infinity): readonly unknown[] {
  const messages: unknown[] = [];
  const reader = new FrameReader(
    () => maxBytes,
    (message) => messages.push(message),
  );
  for (const chunk of chunks) reader.read(chunk);
  return messages;
}

function frameOf(text: string): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([size, Buffer.from(text)]);
}

describe('frames between a gateway and a child process', () => {
  it('give the same messages for any split of their bytes', async () => {
    const property = asyncProperty(array(json()), integer({ min: 1, max: 9 }), async (texts, size) => {
      const messages = texts.map((text) => ({ text, value: JSON.parse(text) as unknown }));
      const bytes = Buffer.concat(await framed(messages));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, at * size + size),
      );
      expect(readAll(chunks)).to.deep.equal(JSON.parse(JSON.stringify(messages)));
    });
    await assert(property, { numRuns: 50 });
  });

  it('hold the messages of one turn of the event loop, up to a size', async () => {
    expect(await framed([1, 2, 3])).to.have.length(1);
    expect(await framed(['x'.repeat(300_000), 'y'])).to.have.length(2);
    expect(await framed([])).to.deep.equal([]);
  });

  it('share one with those of the next millisecond, if they may wait', async () => {
    const clock = new ManualClock();
    const frames: Buffer[] = [];
    const writer = new FrameWriter({ write: (frame: Buffer) => frames.push(frame) > 0 }, clock);
    writer.send('first', true);
    await new Promise(setImmediate);
    expect(readAll(frames), 'nothing was sent before').to.deep.equal(['first']);
    writer.send('second', true);
    await new Promise(setImmediate);
    writer.send('third', true);
    expect(frames).to.have.length(1);
    clock.pass(1);
    expect(frames).to.have.length(2);
    expect(readAll(frames)).to.deep.equal(['first', 'second', 'third']);
  });

  it('do not wait with one that may not, and keep their order', async () => {
    const clock = new ManualClock();
    const frames: Buffer[] = [];
    const writer = new FrameWriter({ write: (frame: Buffer) => frames.push(frame) > 0 }, clock);
    writer.send(1);
    await new Promise(setImmediate);
    writer.send(2, true);
    writer.send(3);
    await new Promise(setImmediate);
    expect(readAll(frames)).to.deep.equal([1, 2, 3]);
    expect(frames).to.have.length(2);
  });

  it('are refused beyond a size, before their bytes are there', () => {
    expect(() => readAll([frameOf('["abc"]').subarray(0, 4)], 3)).to.throw(
      WireFault,
      'sent 7 bytes where at most 3',
    );
  });

  const wrong: readonly (readonly [string, string, string])[] = [
    ['something other than JSON', '[1', 'something other than JSON'],
    ['something other than a list', '{"a":1}', 'something other than a list'],
    ['a message of 10⁵ levels', '['.repeat(1e5) + ']'.repeat(1e5), 'nested more than 520 levels'],
  ];
  for (const [name, text, message] of wrong)
    it(`are refused with ${name}`, () => {
      expect(() => readAll([frameOf(text)])).to.throw(WireFault, message);
    });
});
