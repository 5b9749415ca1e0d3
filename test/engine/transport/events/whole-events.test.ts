import { expect } from 'chai';
import * as fc from 'fast-check';
import { WholeEvents } from '#src/engine/transport/events/whole-events.js';

describe('WholeEvents', () => {
  const pieces = fc.array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 600 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array)),
      fc
        .constantFrom('\n', '\r', '\r\n', '\n\n', 'a'.repeat(600), 'ß“😀', '\uFEFF')
        .map((text) => Buffer.from(text)),
    ),
    { maxLength: 30 },
  );

  function readAll(all: readonly Buffer[]): readonly Buffer[] {
    const events = new WholeEvents();
    return all.map((piece) => events.read(piece));
  }

  /** The bytes up to the last empty line, without the line ends there. */
  function expected(all: Buffer): string {
    const text = all.toString('latin1').replace(/^\u00ef\u00bb\u00bf(?=[^]*(\n\n|\n\r|\r\r))/, '');
    const end = Math.max(...['\n\n', '\n\r', '\r\r'].map((ends) => text.lastIndexOf(ends)));
    return withoutLastEnds(text.slice(0, end + 1));
  }

  it('gives any bytes up to their last empty line, whatever their pieces', () => {
    fc.assert(
      fc.property(pieces, (all) => {
        const read = Buffer.concat(readAll(all)).toString('latin1');
        expect(withoutLastEnds(read)).to.equal(expected(Buffer.concat(all)));
      }),
      { numRuns: 1000 },
    );
  });

  it('ends each read with an empty line', () => {
    fc.assert(
      fc.property(pieces, (all) => {
        for (const bytes of readAll(all))
          if (bytes.length > 0) expect(bytes.toString('latin1')).to.match(/(^|[\r\n])(\r|\n|\r\n)$/);
      }),
    );
  });

  it('says how much memory it takes for an event that is not complete: its bytes and its lines', () => {
    const events = new WholeEvents();
    expect([events.read(Buffer.from('ab')).length, events.heldBytes]).to.deep.equal([0, 2]);
    expect([events.read(Buffer.from('c\n')).length, events.heldBytes]).to.deep.equal([0, 4 + 32]);
    expect([events.read(Buffer.from('\ndé')).toString(), events.heldBytes]).to.deep.equal(['abc\n\n', 3]);
  });
});

/** Empty lines after an event may come with the next one. */
function withoutLastEnds(text: string): string {
  return text.replace(/[\r\n]+$/, '');
}
