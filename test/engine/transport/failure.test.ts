import { expect } from 'chai';
import { GatewayError } from '@gw2api/gateway/plugin';
import { foreign } from '@gw2api/gateway/plugin/upstream';
import { isKnownEncoding } from '#src/engine/transport/decompress.js';

describe('an answer that is not of the protocol', () => {
  it('is named with its kind of upstream, where that is known', () => {
    expect(foreign('a', '200 text/html', { kind: 'lines' })).to.include({
      code: 'upstream_invalid_response',
      message:
        'The upstream of slot "a" answered with 200 text/html, which is not an answer of the kind "lines"; is its baseUrl right?',
    });
    expect(foreign('a', 'something other than HTTP').message).to.equal(
      'The upstream of slot "a" answered with something other than HTTP; is its baseUrl right?',
    );
  });
});

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
