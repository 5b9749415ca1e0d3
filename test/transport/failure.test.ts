import { expect } from 'chai';
import { GatewayError } from 'gw2api/plugin';
import { isKnownEncoding } from '#src/transport/decompress.js';

describe('words of an upstream that every object knows', () => {
  for (const word of ['constructor', '__proto__', 'toString']) {
    it(`are no encoding that could be undone: ${word}`, () => {
      expect(isKnownEncoding(word)).to.equal(false);
    });

    it(`are no code of ours: ${word}`, () => {
      expect(new GatewayError(word, 'no')).to.include({ status: 500, type: 'api_error' });
    });
  }
});
