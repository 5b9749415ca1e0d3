import { expect } from 'chai';
import * as fc from 'fast-check';
import { fromBinaryString, toBinaryString } from '#src/plugin/raw/binary-string.js';
import { cutPlainDelta, deltaEvent, plainDeltaEnd, type PlainDelta } from '#src/plugin/raw/plain-delta.js';

const characters = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({
    unit: fc.constantFrom('a', ' ', '"', '\\', '\n', '\u0000', '\u001f', '\u2028', '\ud83d', '\u007f', '\t'),
  }),
);

/** As it would come off the wire, where no half of a character can be. */
function decoded(text: string): string {
  return Buffer.from(text).toString();
}

function written(index: string, text: string): string {
  return `{"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":"${text}"}}`;
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** What is cut out of an event with this data that stands in the middle of others. */
function plainDelta(data: string): PlainDelta | undefined {
  const before = 'event: ping\ndata: {}\n\n';
  const event = toBinaryString(`event: content_block_delta\ndata: ${data}\n\n`);
  const bytes = toBinaryString(`${before}${fromBinaryString(event)}${fromBinaryString(event)}`);
  const end = plainDeltaEnd(bytes, before.length);
  if (end === before.length) return undefined;
  expect(end).to.equal(before.length + event.length);
  const isAscii = !/[\u0080-\u00ff]/.test(bytes);
  return cutPlainDelta({ bytes, isAscii }, before.length, end);
}

/** The event that was cut out, where one was; its JSON is what writing the text gives. */
function cutOut(data: string): unknown {
  const plain = plainDelta(data);
  if (!plain) return undefined;
  expect(`"${fromBinaryString(plain.json)}"`).to.equal(JSON.stringify(plain.text));
  return deltaEvent(plain);
}

describe('a text delta that is cut out of its JSON', () => {
  it('is what parsing gives, whatever its text', () => {
    fc.assert(
      fc.property(characters, fc.nat(), (text, index) => {
        const delta = { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
        const cut = cutOut(JSON.stringify(delta));
        if (cut) expect(cut).to.deep.equal(delta);
      }),
    );
  });

  it('is never what parsing would refuse', () => {
    const indices = fc.oneof(
      fc.nat().map(String),
      fc.constantFrom('', '-1', '01', '1.5', '1e2', '12345678901234567890', '"0"', ' 0'),
    );
    const escapes = fc.string({ unit: fc.constantFrom('\\', 'n', '"', 'u', '0041', '/', '\n', '}') });
    const texts = fc.oneof(characters, escapes);
    fc.assert(
      fc.property(indices, texts, fc.constantFrom('', '}', ' ', '\t'), (index, text, rest) => {
        const data = decoded(written(index, text) + rest);
        const cut = cutOut(data);
        if (cut) expect(cut).to.deep.equal(parsed(data));
      }),
      { numRuns: 1000 },
    );
  });

  it('is there for a text in which nothing is escaped but what has to be', () => {
    for (const [json, text] of [
      ['Größe – 😀', 'Größe – 😀'],
      [String.raw`\"a\"\n\\\t`, '"a"\n\\\t'],
    ] as const)
      expect(plainDelta(written('3', json))).to.deep.equal({ index: 3, text, json: toBinaryString(json) });
    expect(plainDelta(`${written('0', 'a').slice(0, -1)}     }`)).to.deep.equal({
      index: 0,
      text: 'a',
      json: 'a',
    });
    expect(plainDelta(written('12', 'a'))).to.deep.equal({ index: 12, text: 'a', json: 'a' });
  });

  it('is not there for anything else', () => {
    const others = [
      written('0', String.raw`\u0041`),
      written('0', String.raw`\/`),
      written('0', String.raw`\ud83d`),
      written('0', '","text":"'),
      written('0', '').replace('text_delta', 'thinking_delta'),
      written('0', '').replace(',', ', '),
      written('0', '').replace('}}', '},"more":1}'),
      written('0', '').slice(0, -2),
    ];
    expect(others.map(plainDelta)).to.deep.equal(others.map(() => undefined));
  });
});
