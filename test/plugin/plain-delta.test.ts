import { expect } from 'chai';
import * as fc from 'fast-check';
import { plainTextDelta } from '#src/plugin/plain-delta.js';

const characters = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom('a', ' ', '"', '\\', '\n', '\u0000', '\u001f', '\u2028', '\ud83d') }),
);

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

describe('a text delta that is cut out of its JSON', () => {
  it('is what parsing gives, whatever its text', () => {
    fc.assert(
      fc.property(characters, fc.nat(), (text, index) => {
        const delta = { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
        const cut = plainTextDelta(JSON.stringify(delta));
        if (cut) expect(cut).to.deep.equal(delta);
      }),
    );
  });

  it('is never what parsing would refuse', () => {
    const indices = fc.oneof(
      fc.nat().map(String),
      fc.constantFrom('', '-1', '01', '1.5', '1e2', '12345678901234567890', '"0"', ' 0'),
    );
    fc.assert(
      fc.property(indices, characters, fc.constantFrom('', '}', ' ', '\n'), (index, text, rest) => {
        const data = written(index, text) + rest;
        const cut = plainTextDelta(data);
        if (cut) expect(cut).to.deep.equal(parsed(data));
      }),
    );
  });

  it('is there for a text without anything escaped', () => {
    expect(plainTextDelta(written('3', 'Größe – 😀'))).to.deep.equal({
      type: 'content_block_delta',
      index: 3,
      delta: { type: 'text_delta', text: 'Größe – 😀' },
    });
  });

  it('is not there for anything else', () => {
    const others = [
      written('0', '\\n'),
      written('0', '","text":"'),
      written('0', '').replace('text_delta', 'thinking_delta'),
      written('0', '').replace(',', ', '),
      written('0', '').replace('}}', '},"more":1}'),
    ];
    expect(others.map(plainTextDelta)).to.deep.equal(others.map(() => undefined));
  });
});
