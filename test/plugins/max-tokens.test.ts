import { expect } from 'chai';
import { clamp } from '#plugins/shared/clamp.js';

describe('max-tokens', () => {
  const request = { model: 'm', messages: [] };

  it('sets the cap where the caller left it out', () => {
    expect(clamp(request, 64)).to.include({ max_tokens: 64 });
  });

  it('lowers what exceeds the cap and never raises', () => {
    expect(clamp({ ...request, max_tokens: 100 }, 64).max_tokens).to.equal(64);
    expect(clamp({ ...request, max_tokens: 10 }, 64).max_tokens).to.equal(10);
  });

  it('leaves what is no number to the upstream', () => {
    for (const odd of ['5', [5], { toString: null }]) {
      const body = { ...request, max_tokens: odd as never };
      expect(clamp(body, 64)).to.equal(body);
    }
    const thinking = { type: 'enabled', budget_tokens: { toString: null } as never } as const;
    expect(clamp({ ...request, max_tokens: 100, thinking }, 64)).to.deep.include({
      max_tokens: 64,
      thinking,
    });
  });

  it('lowers a thinking budget with the max_tokens that it shares, and leaves the caller’s own mistakes', () => {
    const thinking = { type: 'enabled', budget_tokens: 30_000 } as const;
    const lowered = clamp({ ...request, max_tokens: 40_000, thinking }, 8000);
    expect(lowered).to.deep.include({ max_tokens: 8000, thinking: { ...thinking, budget_tokens: 7999 } });
    expect(clamp({ ...request, max_tokens: 8000, thinking }, 8000).thinking).to.equal(thinking);
  });
});
