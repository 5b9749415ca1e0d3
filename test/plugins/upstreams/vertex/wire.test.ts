import { expect } from 'chai';
import { modelSegment, predictBody } from '#plugins/upstreams/vertex/wire.js';

describe('the body of a request to Vertex AI', () => {
  it('has the version of the API, and no model', () => {
    const messages = [{ role: 'user', content: 'Hello' } as const];
    expect(predictBody({ model: 'm', messages }, {})).to.deep.equal({
      messages,
      anthropic_version: 'vertex-2023-10-16',
    });
  });
});

describe('a model in a path of Vertex', () => {
  it('keeps the characters that a segment may have, and no other', () => {
    expect(modelSegment('claude-sonnet-5@20260101')).to.equal('claude-sonnet-5@20260101');
    expect(modelSegment('a/b?c#d e')).to.equal('a%2Fb%3Fc%23d%20e');
    expect(modelSegment('\u{1f914}')).to.equal('%F0%9F%A4%94');
  });

  it('is one also where a caller has cut a character in half', () => {
    expect(modelSegment('a\ud83d')).to.equal('a%EF%BF%BD');
  });
});
