import { expect } from 'chai';
import { GatewayError } from 'gw2api/plugin';
import { decompress } from '#src/upstream/decompress.js';

const refuse = () => expect.fail();
const flow = { resume: refuse, finish: refuse, abort: refuse };

describe('words of an upstream that every object knows', () => {
  for (const word of ['constructor', '__proto__', 'toString']) {
    it(`are no encoding that could be undone: ${word}`, () => {
      expect(decompress(word, flow, () => expect.fail())).to.equal(undefined);
    });

    it(`are no code of ours: ${word}`, () => {
      expect(new GatewayError(word, 'no')).to.include({ status: 500, type: 'api_error' });
    });
  }
});
