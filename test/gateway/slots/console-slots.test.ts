import { expect } from 'chai';
import { readConsoleSlot } from '#src/gateway/slots/console-slots.js';
import { defaultCooldown } from '../../default-cooldown.js';

const terms = { slots: [], baseDir: '.', console: { allowLinkLocal: false } };
const open = { ...terms, console: { allowLinkLocal: true } };

describe('a slot that stands in no file', () => {
  const entry = {
    id: 'b',
    upstream: 'messages',
    baseUrl: 'https://upstream.example/',
    account: { kind: 'api-key', key: 'k' },
  };

  it('is what it would be under `slots:`', async () => {
    const { positionOf: _at, isValid: _, ...slot } = (await readConsoleSlot(entry, terms)).slot!;
    expect(slot).to.deep.equal({
      id: 'b',
      upstream: 'messages',
      baseUrl: 'https://upstream.example',
      with: {},
      account: { kind: 'api-key', key: 'k' },
      models: ['*'],
      maxConcurrent: 32,
      weight: 1,
      headers: {},
      connectTimeoutMs: 10_000,
      cooldown: defaultCooldown,
      isGuarded: true,
      path: 'slot "b"',
      at: { file: 'console', line: 1, column: 1 },
    });
  });

  it('is left as it was given', async () => {
    const given = structuredClone(entry);
    await readConsoleSlot(given, terms);
    expect(given).to.deep.equal(entry);
  });

  for (const [given, problem] of [
    [undefined, 'The slot must be an object'],
    ['b', 'The slot must be an object, not a string'],
    [{ ...entry, account: { kind: 'api-key', key: '$KEY' } }, 'account.key: looks like a variable'],
    [{ ...entry, account: { kind: 'oauth' } }, 'account.accessToken: is required'],
    [{ ...entry, baseUrl: 'https://x/v1' }, 'baseUrl: ends in /v1, which every call adds'],
  ] as const)
    it(`says of ${JSON.stringify(given)?.slice(0, 70)}: "${problem}"`, async () => {
      expect((await readConsoleSlot(given, terms)).problems.join('\n')).to.include(problem);
    });

  describe('reads nothing of the machine', () => {
    const aws = { kind: 'aws-sigv4', region: 'us-east-1' };
    const entra = { kind: 'azure-entra', tenant: 'contoso.example', clientId: 'c' };
    for (const account of [
      { ...aws, profile: 'work' },
      { ...aws, chain: true },
      { kind: 'google', keyFile: '/etc/hostname' },
      { kind: 'google', applicationDefault: true },
      { ...entra, tokenFile: '/etc/hostname' },
    ])
      it(`as by ${Object.keys(account).at(-1)} of ${account.kind}`, async () => {
        const { slot, problems } = await readConsoleSlot({ ...entry, account }, open);
        expect(slot).to.equal(undefined);
        expect(problems.join('\n')).to.include(
          `account.${Object.keys(account).at(-1)}: gives access to the gateway's machine`,
        );
      });
  });

  describe('may not lead to a link-local or metadata address', () => {
    const oauth = { kind: 'oauth', accessToken: 'a', refreshToken: 'r', clientId: 'c' };
    for (const [field, fields] of [
      ['baseUrl', { baseUrl: 'http://169.254.169.254' }],
      ['baseUrl', { baseUrl: 'http://0xa9fea9fe/' }],
      ['proxy', { proxy: 'http://user:pass@[fd00:ec2::254]:3128' }],
      ['account.tokenUrl', { account: { ...oauth, tokenUrl: 'https://[64:ff9b::a9fe:a9fe]/token' } }],
    ] as const)
      it(`as its ${field} (${JSON.stringify(Object.values(fields)).slice(-40)}), unless the config allows it`, async () => {
        const given = { ...entry, ...fields };
        const [problem, ...others] = (await readConsoleSlot(given, terms)).problems;
        expect(problem).to.match(
          new RegExp(`^${field}: is a link-local or metadata address, .*allowLinkLocal`),
        );
        expect(others).to.deep.equal([]);
        expect((await readConsoleSlot(given, open)).slot).to.not.have.property('isGuarded');
      });
  });
});
