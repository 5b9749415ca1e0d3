import { expect } from 'chai';
import { CollectedBytes, collectBytes } from '#src/plugin/http/collected-bytes.js';
import { heldBytes } from '../../held-bytes.js';

const all = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919) % 251));

/** Cuts bytes into chunks of these sizes, again and again. */
function* cut(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

describe('CollectedBytes', () => {
  for (const sizes of [[1], [4095], [4096], [1, 4096], [5000, 1, 1], [3, 70_000], [200_000], [4095, 4097, 0]])
    it(`gives back what was added in chunks of ${sizes.join(', ')}`, () => {
      const collected = new CollectedBytes();
      for (let round = 0; round < 2; round += 1) {
        for (const chunk of cut(all, sizes)) collected.add(chunk);
        expect(collected.length).to.equal(all.length);
        expect(collected.take().equals(all)).to.equal(true);
        expect(collected.length).to.equal(0);
        expect(collected.take()).to.have.length(0);
      }
    });

  for (const size of [60_000, 1_500_000])
    it(`gives back many bytes that came in chunks of ${size}`, () => {
      const collected = new CollectedBytes();
      const many = Buffer.concat(Array.from({ length: 40 }, () => all));
      for (let round = 0; round < 2; round += 1) {
        for (const chunk of cut(many, [size])) collected.add(chunk);
        expect(collected.take().equals(many)).to.equal(true);
        expect(collected.length).to.equal(0);
      }
    });

  it('returns a single chunk as it is', () => {
    const collected = new CollectedBytes();
    const chunk = Buffer.from('x');
    collected.add(chunk);
    expect(collected.take()).to.equal(chunk);
  });

  it('does not depend on what happens to a small chunk after it was added', () => {
    const collected = new CollectedBytes();
    const reused = Buffer.from('a');
    collected.add(Buffer.from('0'));
    collected.add(reused);
    reused[0] = 0x62;
    expect(collected.take().toString()).to.equal('0a');
  });

  it('holds little more than the bytes', () => {
    const costs = Array.from({ length: 3 }, () => {
      const before = heldBytes();
      const collected = new CollectedBytes();
      for (let nth = 0; nth < all.length; nth += 1) collected.add(Buffer.from(all.subarray(nth, nth + 1)));
      const cost = heldBytes() - before;
      expect(collected.length).to.equal(all.length);
      return cost;
    });
    // A buffer of its own for each byte would be some 20 MB; other work of the process is some hundred kilobytes.
    expect(Math.min(...costs)).to.be.below(10 * all.length);
  });
});

describe('collectBytes', () => {
  async function* body(): AsyncGenerator<Buffer> {
    yield* cut(all, [1000]);
  }

  it('reads a body to its end', async () => {
    const bytes = await collectBytes(body(), all.length, () => new Error('too large'));
    expect(bytes.equals(all)).to.equal(true);
  });

  it('leaves a body that is too large', async () => {
    const reading = body();
    const error = await collectBytes(reading, 5000, () => new Error('too large')).catch(
      (caught: Error) => caught,
    );
    expect(error).to.have.property('message', 'too large');
    expect((await reading.next()).done).to.equal(true);
  });
});
