import { EventStreamCodec } from '@smithy/eventstream-codec';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { encodeFrame, FrameDecoder, maxFrameBytes, type Frame } from '#plugins/upstreams/bedrock/frames.js';
import { inPieces } from './pieces.js';

type Headers = Parameters<EventStreamCodec['encode']>[0]['headers'];

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString(), // the codec gives it bytes
  (text) => Buffer.from(text),
);

/** Names and texts as wide as the format allows in what is sensible here. */
const name = fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom(...Array.from('abcdefghij-:')) });
const texts = fc.dictionary(name, fc.string({ maxLength: 60, unit: 'binary' }), {
  maxKeys: 6,
  noNullPrototype: true,
});
const payload = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes));
const frames = fc.array(fc.record({ headers: texts, payload }), { maxLength: 8 });
const cuts = fc.array(fc.nat({ max: 4000 }), { maxLength: 30 });

describe('the frames of an AWS event stream', () => {
  it("are read as the vendor's codec writes them, in any split of the bytes", () => {
    fc.assert(
      fc.property(frames, cuts, (sent, at) => {
        const bytes = Buffer.concat(
          sent.map(({ headers, payload: body }) => codec.encode({ headers: typed(headers), body })),
        );
        expect(decode(inPieces(bytes, at))).to.deep.equal(sent);
      }),
    );
  });

  it("are written so that the vendor's codec reads them", () => {
    fc.assert(
      fc.property(texts, payload, (headers, body) => {
        const read = codec.decode(encodeFrame({ headers, payload: body }));
        expect(Buffer.from(read.body).equals(body)).to.equal(true);
        expect(read.headers).to.deep.equal(typed(headers));
      }),
    );
  });

  it('are the same bytes as those of the codec', () => {
    const headers = { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' };
    const body = Buffer.from('{"bytes":"e30="}');
    const ours = encodeFrame({ headers, payload: body });
    expect(ours.equals(codec.encode({ headers: typed(headers), body }))).to.equal(true);
  });

  it('may have headers of all types, of which the texts are read', () => {
    const all: Headers = {
      yes: { type: 'boolean', value: true },
      no: { type: 'boolean', value: false },
      byte: { type: 'byte', value: 7 },
      short: { type: 'short', value: -300 },
      integer: { type: 'integer', value: 1_000_000 },
      binary: { type: 'binary', value: Buffer.from('abc') },
      at: { type: 'timestamp', value: new Date(1_700_000_000_000) },
      id: { type: 'uuid', value: '01234567-89ab-cdef-0123-456789abcdef' },
      last: { type: 'string', value: 'read' },
    };
    const [frame] = decode([Buffer.from(codec.encode({ headers: all, body: Buffer.from('x') }))]);
    expect(frame?.headers).to.deep.equal({ last: 'read' });
    expect(frame?.payload.toString()).to.equal('x');
  });

  it('are refused where any bit of them is wrong', () => {
    const bytes = encodeFrame({
      headers: { ':message-type': 'event' },
      payload: Buffer.from('{"bytes":"e30="}'),
    });
    fc.assert(
      fc.property(fc.nat({ max: bytes.length * 8 - 1 }), (bit) => {
        const wrong = Buffer.from(bytes);
        wrong[bit >> 3]! ^= 1 << (bit & 7);
        expect(() => decode([wrong])).to.throw('broken frames');
      }),
    );
  });

  it('are refused by their prelude where they are too large, before anything of them is held', () => {
    const { prelude } = preludeOf(maxFrameBytes + 1, 0);
    expect(() => decode([prelude])).to.throw('larger than 16 MB');
  });

  it('are refused where their headers are longer than they are', () => {
    const { prelude } = preludeOf(20, 100);
    expect(() => decode([prelude])).to.throw('shorter than its headers');
  });

  it('of 16 MB are read in linear time, also from small pieces', () => {
    const body = Buffer.alloc(maxFrameBytes - 1000, 'x');
    const bytes = encodeFrame({ headers: {}, payload: body });
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1024) }, (_, at) =>
      bytes.subarray(at * 1024, (at + 1) * 1024),
    );
    expect(decode(pieces)[0]?.payload.length).to.equal(body.length);
  }).timeout(5000);
});

function decode(pieces: readonly Buffer[]): readonly Frame[] {
  const decoder = new FrameDecoder();
  return pieces.flatMap((piece) => decoder.decode(piece));
}

function typed(headers: Readonly<Record<string, string>>): Headers {
  const entries = Object.entries(headers).map(([key, value]) => [key, { type: 'string', value }] as const);
  return Object.fromEntries(entries);
}

/** A prelude with its right checksum: that of a frame without headers, whose length is then another. */
function preludeOf(length: number, headersLength: number): { readonly prelude: Buffer } {
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(length, 0);
  prelude.writeUInt32BE(headersLength, 4);
  prelude.writeUInt32BE(checksum(prelude.subarray(0, 8)), 8);
  return { prelude };
}

/** CRC-32, bit by bit. */
function checksum(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
