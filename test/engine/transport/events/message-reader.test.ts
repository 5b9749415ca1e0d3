import { readFileSync, readdirSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createParser } from 'eventsource-parser';
import * as fc from 'fast-check';
import type { ModelEvent } from '@gw2api/gateway/plugin';
import { MessageReader } from '#src/engine/transport/events/message-reader.js';
import { answer, sse } from '../upstream-kit.js';

const folder = join(process.cwd(), '../shared/fixtures/messages-streams');

/** Reads pieces and gives the events as `[type, data]` pairs. */
function read(...pieces: readonly (string | Buffer)[]): readonly (readonly [string, string])[] {
  return readAll(pieces.map((piece) => Buffer.from(piece))).map(({ type, data }) => [type, data] as const);
}

function readAll(pieces: readonly Buffer[], reader = new MessageReader()): readonly ModelEvent[] {
  return pieces.flatMap((piece) => reader.read(piece));
}

function cut(bytes: Buffer, at: readonly number[]): readonly Buffer[] {
  const edges = [0, ...at.toSorted((a, b) => a - b), bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
}

function typesAndData(events: readonly ModelEvent[]): readonly string[] {
  return events.map(({ type, data }) => `${type} ${data}`);
}

const lineEnds: readonly [string, (text: string) => string][] = [
  ['LF', (text) => text],
  ['CRLF', (text) => text.replaceAll('\n', '\r\n')],
  ['CR', (text) => text.replaceAll('\n', '\r')],
];

describe('MessageReader', () => {
  const ping = '{"type":"ping"}';

  it('takes LF, CRLF and CR for line ends, and gives an event as soon as its empty line is there', () => {
    for (const [, ended] of lineEnds) {
      expect(read(ended(`event: ping\ndata: ${ping}\n\n`))).to.deep.equal([['ping', ping]]);
    }
  });

  it('passes over a byte order mark, comments and fields that it does not know', () => {
    expect(read(`\uFEFF: hello\nevent: ping\nid: 7\nx: y\ndata: ${ping}\n\n`)).to.deep.equal([
      ['ping', ping],
    ]);
  });

  it('takes a byte order mark off the first field, and a CRLF for one line end though it is cut in two', () => {
    const custom = [['custom', ping]];
    expect(read(`\uFEFFevent: custom\ndata: ${ping}\n\n`)).to.deep.equal(custom);
    expect(read('event: custom\r', `\ndata: ${ping}\r`, '\n\r', '\n')).to.deep.equal(custom);
  });

  it('joins several data lines by a line feed', () => {
    expect(read('event: ping\ndata: {"type":\ndata: "ping"}\n\n')).to.deep.equal([
      ['ping', '{"type":\n"ping"}'],
    ]);
  });

  it('reads the type of an event without an event line from its JSON', () => {
    expect(read(`data: ${ping}\n\n`)).to.deep.equal([['ping', ping]]);
  });

  it('takes a bare error object without a type for an error of the status that it names', () => {
    const reader = new MessageReader();
    const events = reader.read(Buffer.from('data: {"error":{"message":"No.","code":429}}\n\n'));
    expect(events.map(({ type }) => type)).to.deep.equal(['error']);
    expect(reader.failure).to.include({ message: 'No.', type: 'rate_limit_error', status: 429 });
  });

  it('takes an answer that does not begin with message_start for none', () => {
    const reader = new MessageReader();
    expect(
      readAll([Buffer.from(`event: ping\ndata: ${ping}\n\n${answer.delta('a')}${answer.stop}`)], reader),
    ).to.have.length(1);
    expect(reader.failure).to.include({ code: 'upstream_interrupted' });
    expect(reader.isComplete).to.equal(false);
  });

  it('passes over [DONE]', () => {
    expect(read(answer.start, answer.stop, 'data: [DONE]\n\n').map(([type]) => type)).to.deep.equal([
      'message_start',
      'message_stop',
    ]);
    expect(read('data: [DONE]\n\n', answer.start)).to.have.length(1);
  });

  it('keeps data that is not JSON as it is, for whoever parses it', () => {
    expect(read('event: ping\ndata: {"type":\n\n')).to.deep.equal([['ping', '{"type":']]);
  });

  it('gives the events before an unnamed one that is not JSON, and then says that the answer broke', () => {
    const reader = new MessageReader();
    expect(reader.read(Buffer.from(`${answer.start}data: oops\n\n${answer.stop}`))).to.have.length(1);
    expect(reader.failure).to.include({ code: 'upstream_interrupted' });
    expect(reader.isComplete).to.equal(false);
  });

  it('drops an event that is not finished by an empty line', () => {
    expect(read(`event: ping\ndata: ${ping}\n`)).to.deep.equal([]);
  });

  it('takes a last event at a clean end that its empty line, or its line end, is missing from', () => {
    for (const [, ended] of lineEnds)
      for (const lost of [1, 2]) {
        const reader = new MessageReader();
        const text = ended(answer.start + answer.stop.slice(0, -lost));
        expect(reader.read(Buffer.from(text))).to.have.length(1);
        expect(reader.isComplete).to.equal(false);
        expect(reader.finish().map(({ type }) => type)).to.deep.equal(['message_stop']);
        expect(reader.isComplete).to.equal(true);
        expect(reader.finish()).to.deep.equal([]);
      }
    const unnamed = new MessageReader();
    unnamed.read(Buffer.from(`${answer.start}data: {"type":"message_stop"}`));
    expect(unnamed.finish()).to.have.length(1);
  });

  it('takes half an event at a clean end for none, wherever it was cut', () => {
    for (const event of [answer.stop, answer.delta('Hello'), 'data: {"type":"message_stop"}\n\n']) {
      const json = event.indexOf('}\n');
      for (let length = 0; length <= json; length += 1) {
        const reader = new MessageReader();
        reader.read(Buffer.from(answer.start + event.slice(0, length)));
        expect(reader.finish(), event.slice(0, length)).to.deep.equal([]);
        expect(reader.isComplete).to.equal(false);
      }
    }
  });

  it('is over after message_stop', () => {
    const reader = new MessageReader();
    expect(readAll([Buffer.from(answer.start + answer.stop + answer.delta('late'))], reader)).to.have.length(
      2,
    );
    expect(reader.isComplete).to.equal(true);
    expect(reader.read(Buffer.from(answer.delta('later')))).to.deep.equal([]);
  });

  it('gives an error event and then says what it means; nothing counts after it', () => {
    const reader = new MessageReader();
    const error = { type: 'overloaded_error', message: 'Overloaded', details: { error_code: 'x' } };
    const bytes = Buffer.from(answer.start + sse({ type: 'error', error } as { type: string }) + answer.stop);
    expect(reader.read(bytes).map(({ type }) => type)).to.deep.equal(['message_start', 'error']);
    expect(reader.isComplete).to.equal(false);
    expect(reader.failure).to.deep.include({
      code: 'overloaded_error',
      status: 529,
      message: 'Overloaded',
      details: { error_code: 'x' },
    });
  });

  it('takes the text of an error event that is not JSON for the words of the server', () => {
    const reader = new MessageReader();
    expect(reader.read(Buffer.from('event: error\ndata: died\n\n'))).to.have.length(1);
    expect(reader.failure).to.include({ code: 'api_error', message: 'died' });
  });

  it('gives up on an event that never ends', () => {
    const reader = new MessageReader();
    const piece = Buffer.alloc(16 * 1024 * 1024, 'x');
    reader.read(Buffer.from('event: ping\ndata: '));
    for (let at = 0; at < 3; at += 1) reader.read(piece);
    expect(reader.failure).to.deep.include({
      code: 'upstream_invalid_response',
      failure: { kind: 'foreign' },
    });
    expect(reader.read(Buffer.from(answer.stop))).to.deep.equal([]);
  });

  it('gives up on an event of ever more lines, which take more memory than their text', () => {
    const reader = new MessageReader();
    reader.read(Buffer.from('event: ping\n'));
    const lines = Buffer.from('data\n'.repeat(300_000));
    for (let at = 0; at < 4; at += 1) reader.read(lines);
    expect(reader.failure).to.include({ code: 'upstream_invalid_response' });
  });

  it('takes a text delta with more escapes than anyone could remember', () => {
    const events = readAll([Buffer.from(answer.start), Buffer.from(answer.delta('\n'.repeat(12_000_000)))]);
    expect(events[2]?.json).to.have.nested.property('delta.text').that.has.length(12_000_000);
  });

  it('gives the same events for any split of any bytes', () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 6 });
    fc.assert(
      fc.property(
        texts,
        fc.constantFrom(...lineEnds),
        fc.infiniteStream(fc.nat()),
        (parts, [, ended], numbers) => {
          const events = [answer.start, ': hi\n\n', ...parts.map(answer.delta), answer.stop];
          const bytes = Buffer.from(`\uFEFF${ended(events.join(''))}`);
          const at = [...numbers.take(8)].map((number) => number % (bytes.length + 1));
          expect(typesAndData(readAll(cut(bytes, at)))).to.deep.equal(typesAndData(readAll([bytes])));
        },
      ),
      { numRuns: 200, seed: 7 },
    );
  });
});

describe('MessageReader on recorded streams', () => {
  before(function skipWithoutFixtures() {
    if (!existsSync(folder)) this.skip();
  });

  const streams = existsSync(folder) ? readdirSync(folder) : [];

  for (const name of streams) {
    for (const [ends, ended] of lineEnds) {
      it(`${name} with ${ends} gives the same events for every split`, () => {
        const bytes = Buffer.from(ended(readFileSync(join(folder, name), 'utf8')));
        const whole = typesAndData(readAll([bytes]));
        expect(whole).to.not.be.empty;
        const splits = isShort(bytes) ? everySplit(bytes) : seededSplits(bytes, 12);
        for (const at of splits) expect(typesAndData(readAll(cut(bytes, at)))).to.deep.equal(whole);
      });
    }
  }

  it('lets only the first message_start through', () => {
    for (const name of ['anomaly-duplicate-message-start.sse', 'anomaly-spliced-message-start.sse']) {
      const events = readAll([readFileSync(join(folder, name))]);
      expect(events.filter(({ type }) => type === 'message_start')).to.have.length(1);
    }
  });

  it('ends an answer that starts anew after content with an error', () => {
    const reader = new MessageReader();
    const events = readAll([readFileSync(join(folder, 'anomaly-spliced-message-start.sse'))], reader);
    expect(events.at(-1)?.data).to.include('Spark');
    expect(reader.failure).to.include({ code: 'upstream_invalid_response' });
  });

  it('finds every stream complete but the three that are not', () => {
    const incomplete = streams.filter((name) => {
      const reader = new MessageReader();
      reader.read(readFileSync(join(folder, name)));
      return !reader.isComplete;
    });
    expect(incomplete).to.deep.equal([
      'anomaly-spliced-message-start.sse',
      'constructed-cut-inside-tool-block.sse',
      'constructed-overloaded-mid-stream.sse',
    ]);
  });

  it('gives every event that the file has, its data byte for byte', () => {
    const name = 'web-search-thinking-citations.sse';
    const bytes = readFileSync(join(folder, name));
    const texts: string[] = [];
    createParser({ onEvent: ({ data }) => texts.push(data) }).feed(bytes.toString());
    expect(readAll([bytes]).map(({ data }) => data)).to.deep.equal(texts);
  });
});

function isShort(bytes: Buffer): boolean {
  return bytes.length < 1800;
}

function everySplit(bytes: Buffer): readonly (readonly number[])[] {
  return Array.from({ length: bytes.length + 1 }, (_, at) => [at]);
}

/** Splits into many pieces, the same ones in every run. */
function seededSplits(bytes: Buffer, count: number): readonly (readonly number[])[] {
  const at = fc.array(fc.nat({ max: bytes.length }), { minLength: 1, maxLength: 60 });
  return [...fc.sample(at, { numRuns: count, seed: bytes.length })];
}
