import { expect } from 'chai';
import { redactSecrets } from '#src/admin/redact-secrets.js';

describe('redactSecrets', () => {
  const cases: readonly (readonly [string, unknown, unknown])[] = [
    [
      'keys and tokens',
      { key: 'k', accessToken: 't', apiKeys: ['a', 'b'] },
      { key: '***', accessToken: '***', apiKeys: ['***', '***'] },
    ],
    [
      'all that stands within a secret',
      { secrets: { a: 'x', b: { c: 1 } } },
      { secrets: { a: '***', b: { c: '***' } } },
    ],
    [
      'every header',
      { headers: { 'x-extra': '1', list: ['a'] } },
      { headers: { 'x-extra': '***', list: ['***'] } },
    ],
    [
      'the user of an address',
      { proxy: 'http://user:p@ss@egress:3128/' },
      { proxy: 'http://***@egress:3128/' },
    ],
    [
      'the query of an address',
      'https://hooks.example/a?token=t&x=1#top',
      'https://hooks.example/a?token=***&x=***#top',
    ],
    ['addresses in lists', { hooks: ['redis://:pw@db:6379'] }, { hooks: ['redis://***@db:6379'] }],
  ];
  for (const [what, value, blanked] of cases)
    it(`blanks ${what}`, () => expect(redactSecrets(value)).to.deep.equal(blanked));

  const harmless = [
    { firstTokenTimeout: '60s', tokensPerMinute: 1, tokens_per_day: 1 },
    { maxTokens: 1000, max_tokens: 1, countTokens: 'estimate', tokenUrl: 'https://auth.example/token' },
    { stickyFrom: ['prompt_cache_key', 'metadata.user_id'], header: 'x-api-key' },
    { pattern: 'a?b=c@d', text: 'Write to me@example.com or http://example.com/?', cache: true, at: null },
  ];
  for (const value of harmless)
    it(`leaves ${JSON.stringify(value)} alone`, () => expect(redactSecrets(value)).to.deep.equal(value));

  it('takes no longer for an address that is all question marks', () => {
    const began = performance.now();
    const address = `http://host/${'?'.repeat(200_000)}`;
    expect(redactSecrets(address)).to.equal(address);
    expect(redactSecrets('http://host/?a?token=secret')).to.equal('http://host/?a?token=***');
    expect(performance.now() - began).to.be.below(2000);
  });
});
