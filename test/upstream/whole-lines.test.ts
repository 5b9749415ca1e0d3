import { expect } from 'chai';
import * as fc from 'fast-check';
import { WholeLines } from '#src/upstream/whole-lines.js';

describe('WholeLines', () => {
  const bytes = fc.array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 600 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
      fc.constantFrom('\n', '\r', '\r\n', 'a'.repeat(600), 'ß“😀').map((text) => Buffer.from(text)),
    ),
    { maxLength: 30 },
  );

  /** What the lines are that these bytes complete, a character for each byte. */
  function expected(all: Buffer): string {
    const text = all
      .toString('latin1')
      .replace(/^\u00ef\u00bb\u00bf/, '')
      .replaceAll(/\r\n?/g, '\n');
    return text.slice(0, text.lastIndexOf('\n') + 1);
  }

  it('gives any bytes up to their last line end, whatever their pieces', () => {
    fc.assert(
      fc.property(bytes, (pieces) => {
        const lines = new WholeLines();
        const read = pieces.map((piece) => lines.read(piece));
        for (const { bytes, isAscii } of read) expect(isAscii).to.equal(/^[\0-\u007f]*$/.test(bytes));
        expect(read.map(({ bytes }) => bytes).join('')).to.equal(expected(Buffer.concat(pieces)));
      }),
    );
  });

  it('says how many bytes it holds back', () => {
    const lines = new WholeLines();
    expect([lines.read(Buffer.from('ab')).bytes, lines.heldLength]).to.deep.equal(['', 2]);
    expect([lines.read(Buffer.from('c\ndé')).bytes, lines.heldLength]).to.deep.equal(['abc\n', 3]);
  });
});
