import { expect } from 'chai';
import { redactAddresses } from '#src/kit/schema/redact-addresses.js';

describe('redactAddresses', () => {
  const cases: readonly (readonly [string, unknown, unknown])[] = [
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
    it(`blanks ${what}`, () => expect(redactAddresses(value)).to.deep.equal(blanked));

  const harmless = [
    { firstTokenTimeout: '60s', tokensPerMinute: 1, apiKeyHeader: 'x-key' },
    { stickyFrom: ['prompt_cache_key', 'metadata.user_id'], header: 'x-api-key' },
    { pattern: 'a?b=c@d', text: 'Write to me@example.com or http://example.com/?', cache: true, at: null },
  ];
  for (const value of harmless)
    it(`leaves ${JSON.stringify(value)} alone`, () => expect(redactAddresses(value)).to.deep.equal(value));

  it('takes no longer for an address that is all question marks', () => {
    const began = performance.now();
    const address = `http://host/${'?'.repeat(200_000)}`;
    expect(redactAddresses(address)).to.equal(address);
    expect(redactAddresses('http://host/?a?token=secret')).to.equal('http://host/?a?token=***');
    expect(performance.now() - began).to.be.below(2000);
  });
});
