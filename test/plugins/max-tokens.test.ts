import { expect } from 'chai';
import { clamp } from '#plugins/max-tokens.js';

describe('max-tokens', () => {
  const request = { model: 'm', messages: [] };

  it('sets the cap where the caller left it out', () => {
    expect(clamp(request, 64)).to.include({ max_tokens: 64 });
  });

  it('lowers what exceeds the cap and never raises', () => {
    expect(clamp({ ...request, max_tokens: 100 }, 64).max_tokens).to.equal(64);
    expect(clamp({ ...request, max_tokens: 10 }, 64).max_tokens).to.equal(10);
  });
});
