import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { weakSecrets } from '#src/cli/weak-secrets.js';

describe('weak secrets', () => {
  const faultsOf = (secretKey: string) => weakSecrets({ GW_SECRET_KEY: secretKey });

  it('are short keys, those of a few characters, and those with white space around them', () => {
    const random = randomBytes(32).toString('base64');
    for (const [key, fault] of [
      ['abc', /^GW_SECRET_KEY is shorter than 32 characters/],
      ['ab'.repeat(40), /^GW_SECRET_KEY has fewer than 8 different characters/],
      [`${random}\n`, /^GW_SECRET_KEY begins or ends with white space/],
    ] as const) {
      const [warning, ...others] = faultsOf(key);
      expect(warning)
        .to.match(fault)
        .and.to.include('openssl rand -base64 32')
        .and.not.to.include(key.trim());
      expect(others).to.deep.equal([]);
    }
  });

  it('are passwords of the console that are short, unless none is set', () => {
    for (const password of ['x', 'elevenchars'])
      expect(weakSecrets({ GW_PANEL_PASSWORD: password })).to.deep.equal([
        'GW_PANEL_PASSWORD is shorter than 12 characters and can be guessed; set a longer one.',
      ]);
    expect(weakSecrets({ GW_PANEL_PASSWORD: 'twelve chars' })).to.deep.equal([]);
    expect(weakSecrets({ GW_PANEL_PASSWORD: '' })).to.deep.equal([]);
  });

  it('are none of those that openssl and gw2api make, and none where no key is set', () => {
    for (const encoding of ['base64', 'base64url', 'hex'] as const)
      for (let count = 0; count < 200; count += 1)
        expect(faultsOf(randomBytes(32).toString(encoding))).to.deep.equal([]);
    expect(weakSecrets({ GW_SECRET_KEY: '', GW2API_API_KEY: '' })).to.deep.equal([]);
    expect(weakSecrets({})).to.deep.equal([]);
  });
});
