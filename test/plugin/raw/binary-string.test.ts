import { expect } from 'chai';
import * as fc from 'fast-check';
import { fromBinaryString, toBinaryString } from '#src/plugin/raw/index.js';

describe('byte text', () => {
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.string());

  it('has a character for each byte of the UTF-8, and gives the text back', () => {
    fc.assert(
      fc.property(text, (text) => {
        const bytes = toBinaryString(text);
        expect(Buffer.from(bytes, 'latin1')).to.deep.equal(Buffer.from(text));
        expect(fromBinaryString(bytes)).to.equal(Buffer.from(text).toString());
      }),
    );
  });
});
