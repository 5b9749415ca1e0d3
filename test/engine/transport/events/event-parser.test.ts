import { expect } from 'chai';
import { createParser } from 'eventsource-parser';
import * as fc from 'fast-check';
import type { ModelEvent } from '@gw2api/gateway/plugin';
import { EventParser } from '#src/engine/transport/events/event-parser.js';
import { WholeEvents } from '#src/engine/transport/events/whole-events.js';
import { BinaryStringBuilder } from '@gw2api/gateway/plugin/raw';

type Named = readonly [name: string | undefined, data: string];

/** The events of these reads, by the quick path wherever it may be taken. */
function read(pieces: readonly Buffer[]): readonly Named[] {
  const found: Named[] = [];
  const whole = new WholeEvents();
  const parser = new EventParser({
    onEvent: (event: ModelEvent) => found.push([event.type, event.data]),
    onUnnamed: (data) => found.push([undefined, data]),
    maxEventBytes: 1_000_000,
    onTooLong: () => expect.fail('too long'),
  });
  for (const piece of [...pieces, Buffer.from('\n\n')]) {
    const events = whole.read(piece);
    if (events.length > 0) parser.feed(events);
  }
  return found;
}

/** The events of the whole text, by eventsource-parser alone. */
function reference(bytes: Buffer): readonly Named[] {
  const found: Named[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => data !== '[DONE]' && data.trim() !== '' && found.push([event, data]),
  });
  const text = bytes.toString().replace(/^\uFEFF/, '');
  parser.feed(`${text}\n\n`);
  return found;
}

function cut(bytes: Buffer, at: readonly number[]): readonly Buffer[] {
  const edges = [0, ...at.toSorted((a, b) => a - b), bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

function splitsOf(bytes: Buffer): fc.Arbitrary<readonly Buffer[]> {
  const at = fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 });
  const everyByte = fc.constant(Array.from(bytes, (_, index) => index));
  return fc
    .oneof({ weight: 4, arbitrary: at }, { weight: 1, arbitrary: everyByte })
    .map((edges) => cut(bytes, edges));
}

const delta = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ß“😀"}}';

const field = fc.oneof(
  fc.constantFrom(
    `event: content_block_delta\ndata: ${delta}\n`,
    'event: ping\ndata: {"type": "ping"   }\n',
    'event: ping\n',
    'event:ping\n',
    'event: \n',
    'event\n',
    `data: ${delta}\n`,
    'data:{"a":1}\n',
    'data: {"a":\n',
    'data\n',
    'data: \n',
    'data: [DONE]\n',
    ': a comment\n',
    ':\n',
    'id: 7\n',
    'retry: 3000\n',
    'retry: soon\n',
    'x: y\n',
    ' data: no\n',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => `data: ${text}\n`),
);

/** Events of any fields, often in the usual form; each line by itself ends with LF, CRLF or CR. */
const streams = fc
  .record({
    mark: fc.constantFrom('', '\uFEFF'),
    events: fc.array(fc.array(field, { maxLength: 4 }), { maxLength: 8 }),
    ends: fc.constantFrom<readonly string[]>(['\n'], ['\r\n'], ['\r'], ['\n', '\r\n'], ['\n', '\r\n', '\r']),
    choices: fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
    lost: fc.nat({ max: 3 }),
  })
  .map(({ mark, events, ends, choices, lost }) => {
    const text = events.map((fields) => `${fields.join('')}\n`).join('');
    let at = 0;
    const ended = text.replaceAll('\n', () => ends[choices[at++ % choices.length]! % ends.length]!);
    return Buffer.from(mark + ended.slice(0, ended.length - lost));
  });

describe('EventParser', () => {
  it('finds the events with data that eventsource-parser finds in any stream, however it is split', () => {
    const split = streams.chain((bytes) => fc.tuple(fc.constant(bytes), splitsOf(bytes)));
    fc.assert(
      fc.property(split, ([bytes, pieces]) => {
        expect(read(pieces)).to.deep.equal(reference(bytes));
      }),
      { numRuns: 2000 },
    );
  });

  it('finds the events with data that eventsource-parser finds in any bytes', () => {
    const noise = fc.array(
      fc.oneof(
        fc.constantFrom(10, 13, 58, 32),
        fc.constantFrom(...Buffer.from('data:evnt{}')),
        fc.nat({ max: 255 }),
      ),
      { maxLength: 60 },
    );
    const split = noise
      .map((bytes) => Buffer.from(bytes))
      .chain((bytes) => fc.tuple(fc.constant(bytes), splitsOf(bytes)));
    fc.assert(
      fc.property(split, ([bytes, pieces]) => {
        expect(read(pieces)).to.deep.equal(reference(bytes));
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps the bytes of usual events together, with LF and with CRLF, and copies none of an odd one', () => {
    const text = 'event: ping\ndata: {"type": "ping"}\n\n: hi\n\ndata: {}\nevent: ping\n\n';
    for (const ended of [text, text.replaceAll('\n', '\r\n')]) {
      const copied: boolean[] = [];
      const parser = new EventParser({
        onEvent: (event) => copied.push(event.copyTo(new BinaryStringBuilder())),
        onUnnamed: () => expect.fail('unnamed'),
        maxEventBytes: 1000,
        onTooLong: () => expect.fail('too long'),
      });
      parser.feed(Buffer.from(ended));
      expect(copied).to.deep.equal([true, false]);
    }
  });

  it('passes a read on as it was received, and holds its text alone once it is released', () => {
    const received = Buffer.from('event: ping\ndata: {"type": "ping"}\n\n');
    const copies: (() => Buffer)[] = [];
    const copyOf = (event: ModelEvent): Buffer => {
      const text = new BinaryStringBuilder();
      event.copyTo(text);
      return text.take();
    };
    const parser = new EventParser({
      onEvent: (event) => copies.push(() => copyOf(event)),
      onUnnamed: () => expect.fail('unnamed'),
      maxEventBytes: 1000,
      onTooLong: () => expect.fail('too long'),
    });
    parser.feed(received);
    expect(copies.map((copy) => copy() === received)).to.deep.equal([true]);
    parser.release();
    expect(copies.map((copy) => copy() === received)).to.deep.equal([false]);
    expect(copies.map((copy) => copy())).to.deep.equal([received]);
  });

  it('refuses to buffer more than an event may have', () => {
    let isRefused = false;
    const parser = new EventParser({
      onEvent: () => expect.fail('an event'),
      onUnnamed: () => expect.fail('an event'),
      maxEventBytes: 100,
      onTooLong: () => (isRefused = true),
    });
    parser.feed(Buffer.from(`data: ${'x'.repeat(200)}\n`));
    expect(isRefused).to.equal(true);
  });
});
