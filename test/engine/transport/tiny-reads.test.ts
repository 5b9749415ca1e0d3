import { expect } from 'chai';
import { ReceivedAnswer, TextBody } from '#src/engine/transport/answer.js';
import { ByteQueue } from '#src/engine/transport/byte-queue.js';
import { WholeEvents } from '#src/engine/transport/events/whole-events.js';
import { FrameDecoder, encodeFrame } from '#plugins/upstreams/bedrock/frames.js';
import type { Backpressure, BodySink } from '#src/engine/transport/body.js';
import { heldBytes } from '../../held-bytes.js';

const size = 200_000;
/** A buffer for each byte would cost some hundred times the size. */
const maxCost = 10 * size;

const flow: Backpressure = { resume() {}, finish() {}, abort() {} };

/** Memory that reads of one byte each cost beside the bytes themselves. */
function costOf(bytes: Buffer, write: (byte: Buffer) => unknown): number {
  const before = heldBytes();
  for (const byte of bytes) write(Buffer.from([byte]));
  return heldBytes() - before;
}

describe('an answer that is read byte by byte', () => {
  it('costs little more than its size as a text', async () => {
    const body = new TextBody(flow, Infinity);
    expect(costOf(Buffer.alloc(size, 'x'), (byte) => body.write(byte))).to.be.below(maxCost);
    body.end();
    expect(await body.text).to.have.length(size);
  });

  it('costs little more than its size as one event', () => {
    const events = new WholeEvents();
    expect(costOf(Buffer.alloc(size, 'x'), (byte) => events.read(byte))).to.be.below(maxCost);
    expect(events.read(Buffer.from('\n\n'))).to.have.length(size + 2);
  });

  it('costs little more than its size in a queue', () => {
    const queue = new ByteQueue(flow);
    expect(costOf(Buffer.alloc(size, 'x'), (byte) => queue.write(byte))).to.be.below(maxCost);
    return queue.return();
  });

  it('costs little more than its size as a frame', () => {
    const decoder = new FrameDecoder();
    const frame = encodeFrame({ headers: {}, payload: Buffer.alloc(size, 'x') });
    expect(costOf(frame.subarray(0, -1), (byte) => decoder.decode(byte))).to.be.below(maxCost);
    expect(decoder.decode(frame.subarray(-1))).to.have.length(1);
  });
});

describe('the lines of an answer', () => {
  /** Lines of an answer that comes in these reads. */
  async function linesOf(...reads: readonly Buffer[]): Promise<readonly string[]> {
    const read = <Body extends BodySink>(open: (flow: Backpressure) => Body): Body => {
      const body = open({ ...flow, resume: () => feed(body) });
      feed(body);
      return body;
    };
    const left = [...reads];
    const feed = (body: BodySink): void => {
      const next = left.shift();
      if (next) body.write(next);
      else body.end();
    };
    const call = { connectedAtMs: undefined, clock: undefined, sentBytes: 0, read };
    const lines: string[] = [];
    for await (const some of new ReceivedAnswer(call, 200, {}).lines()) lines.push(...some);
    return lines;
  }

  it('are the same whatever their reads', async () => {
    const bytes = Buffer.from('one\r\n\nzwölf\nthe last, 世界');
    const expected = ['one', '', 'zwölf', 'the last, 世界'];
    expect(await linesOf(bytes)).to.deep.equal(expected);
    for (let at = 1; at < bytes.length; at += 1)
      expect(await linesOf(bytes.subarray(0, at), bytes.subarray(at))).to.deep.equal(expected);
  });

  it('have a max length', async () => {
    const reads = Array.from({ length: 33 }, () => Buffer.alloc(1024 * 1024, 'x'));
    const error = await linesOf(...reads).catch((caught: Error) => caught);
    expect(error).to.include({ message: 'The upstream sent a line of more than 32 MB.' });
  });
});
