import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { StoreError } from '#src/state/store/store-error.js';
import { createCipher } from '#src/state/store/credential-cipher.js';

describe('the vault', () => {
  const secret = randomBytes(32).toString('base64');

  it('gives back what it has sealed, whatever text the secret is', async () => {
    const value = { refreshToken: 'r', list: [1, null, 'ü'] };
    for (const given of [secret, 'a pass phrase', 'x'.repeat(43)]) {
      const sealed = await createCipher(given).seal('a thing', value);
      expect(await createCipher(given).open('a thing', sealed)).to.deep.equal(value);
    }
  });

  it('seals the same thing differently each time, and shows nothing of it', async () => {
    const cipher = createCipher(secret);
    const [first, second] = [await cipher.seal('a', 'plain text'), await cipher.seal('a', 'plain text')];
    expect(first).to.match(/^v1\.[\w-]{8}\.[\w-]{16}\.[\w-]+$/);
    expect(first).to.not.equal(second);
    expect(Buffer.from(first.split('.')[3]!, 'base64url').toString('latin1')).to.not.include('plain');
  });

  it('says by name that another secret is needed', async () => {
    const sealed = await createCipher(secret).seal('the tokens of "a"', 1);
    expect(await refusal('other', 'the tokens of "a"', sealed)).to.match(
      /GW_SECRET_KEY is not the one that the tokens of "a" was encrypted with/,
    );
  });

  it('says that there is none', async () => {
    expect(await refusal(undefined, 'a', 'v1.x.y.z')).to.match(/GW_SECRET_KEY is not set/);
    const sealing = await createCipher(undefined)
      .seal('a', 1)
      .catch((error: unknown) => error);
    expect(sealing)
      .to.be.instanceOf(StoreError)
      .with.property('message')
      .that.includes('GW_SECRET_KEY is not set');
  });

  it('takes nothing that was changed, put under another name, or is of a later version', async () => {
    const sealed = await createCipher(secret).seal('a', 'text');
    const [version, id, nonce, text] = sealed.split('.') as [string, string, string, string];
    const bytes = Buffer.from(text, 'base64url');
    bytes[0]! ^= 1;
    expect(await refusal(secret, 'a', [version, id, nonce, bytes.toString('base64url')].join('.'))).to.match(
      /damaged/,
    );
    expect(await refusal(secret, 'b', sealed)).to.match(/damaged or replaced/);
    expect(await refusal(secret, 'a', [version, id, nonce, ''].join('.'))).to.match(/damaged/);
    expect(await refusal(secret, 'a', sealed.replace('v1', 'v2'))).to.match(/does not know/);
  });
});

async function refusal(secret: string | undefined, name: string, sealed: string): Promise<string> {
  try {
    await createCipher(secret).open(name, sealed);
  } catch (error) {
    if (error instanceof StoreError) return error.message;
    throw error;
  }
  return 'it was opened';
}
