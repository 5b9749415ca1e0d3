import { expect } from 'chai';
import { readSlot } from '#src/config/one-slot.js';

describe('a slot that stands in no file', () => {
  const entry = {
    id: 'b',
    upstream: 'messages',
    baseUrl: 'https://upstream.example/',
    account: { kind: 'api-key', key: 'k' },
  };

  it('is what it would be under `slots:`', () => {
    expect(readSlot(entry, 'console').slot).to.deep.equal({
      id: 'b',
      upstream: 'messages',
      baseUrl: 'https://upstream.example',
      account: { kind: 'api-key', key: 'k', header: 'x-api-key' },
      models: ['*'],
      maxConcurrent: 32,
      weight: 1,
      headers: {},
      connectTimeoutMs: 10_000,
      path: 'slot "b"',
      at: { file: 'console', line: 1, column: 1 },
    });
  });

  it('is left as it was given', () => {
    const given = structuredClone(entry);
    readSlot(given, 'console');
    expect(given).to.deep.equal(entry);
  });

  for (const [given, problem] of [
    [undefined, 'The slot must be an object'],
    ['b', 'The slot must be an object, not a string'],
    [{ ...entry, account: { kind: 'api-key', key: '$KEY' } }, 'account.key: looks like a variable'],
    [{ ...entry, account: { kind: 'oauth' } }, 'account.accessToken: is required'],
    [{ ...entry, baseUrl: 'https://x/v1' }, 'baseUrl: ends in /v1, which every call adds'],
  ] as const)
    it(`says of ${JSON.stringify(given)?.slice(0, 70)}: "${problem}"`, () => {
      expect(readSlot(given, 'console').problems!.join('\n')).to.include(problem);
    });
});
