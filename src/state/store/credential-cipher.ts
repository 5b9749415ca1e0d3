import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { StoreError } from './store-error.js';

/** Text of `GW_SECRET_KEY`, or a function that returns it on first use; undefined if there is none. */
export type SecretKey = string | (() => Promise<string | undefined>);

/** Seals secrets for storage. */
export interface CredentialCipher {
  /** Seals `value` under `name`, which `open` then requires. Throws a StoreError if there is no key. */
  seal(name: string, value: unknown): Promise<string>;
  /** Throws a StoreError that names GW_SECRET_KEY if another key has sealed it. */
  open(name: string, sealed: string): Promise<unknown>;
  /** Ids of the sealing key and of the old one, as in their sealed texts. */
  keyIds(): Promise<{ readonly current: string; readonly old: string | undefined }>;
}

/**
 * AES-256-GCM with a separate nonce for each text, as `v1.<key id>.<nonce>.<ciphertext and tag>` in base64url, with the
 * name authenticated; keys are 32 bytes in base64, or any other text through scrypt. The old key (`GW_SECRET_KEY_OLD`)
 * only opens its sealed texts.
 */
export function createCipher(secret: SecretKey | undefined, old?: string): CredentialCipher {
  const given = new LazyKey(secret);
  const before = new LazyKey(old);
  return {
    async keyIds() {
      const { id } = await given.get('it is needed to recognize encrypted values');
      return { current: id, old: (await before.find())?.id };
    },
    async seal(name, value) {
      const { id, bytes } = await given.get(`it is needed to keep ${name}`);
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(Buffer.from(name));
      const text = Buffer.concat([
        cipher.update(JSON.stringify(value), 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return ['v1', id, nonce.toString('base64url'), text.toString('base64url')].join('.');
    },
    async open(name, sealed) {
      const current = await given.get(`${name} is encrypted`);
      const [version, keyId, nonce = '', text = ''] = sealed.split('.');
      if (version !== 'v1')
        throw new StoreError(`${name} is encrypted in a way that this version does not know.`);
      const key = keyId === current.id ? current : await before.find();
      if (!key || keyId !== key.id) throw wrongKey(name, key !== undefined);
      return JSON.parse(decipher(key.bytes, name, decode(nonce), decode(text)));
    },
  };
}

/** Id of the key that has sealed a text; undefined for a text that was not sealed. */
export function keyIdOf(sealed: string): string | undefined {
  return sealed.split('.', 2)[1];
}

const nonceBytes = 12;
const tagBytes = 16;

interface Key {
  /** Key id, which identifies the sealing key and reveals nothing else about it. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** Key that is derived on first use, as scrypt is slow. */
class LazyKey {
  readonly #secret: SecretKey | undefined;
  #key: Promise<Key | undefined> | undefined;

  constructor(secret: SecretKey | undefined) {
    this.#secret = secret;
  }

  /** Returns the key. Throws a StoreError with the purpose in its message if there is none. */
  async get(whatFor: string): Promise<Key> {
    const key = await this.find();
    if (!key) throw new StoreError(`GW_SECRET_KEY is not set: ${whatFor}.`);
    return key;
  }

  async find(): Promise<Key | undefined> {
    return (this.#key ??= this.#make());
  }

  async #make(): Promise<Key | undefined> {
    const secret = typeof this.#secret === 'function' ? await this.#secret() : this.#secret;
    return secret ? keyOf(secret) : undefined;
  }
}

async function keyOf(secret: string): Promise<Key> {
  const bytes = rawKey(secret) ?? (await deriveKey(secret, 'gw2api vault v1', 32));
  const id = createHash('sha256').update('gw2api key id').update(bytes).digest('base64url').slice(0, 8);
  return { id, bytes };
}

function rawKey(secret: string): Buffer | undefined {
  return /^[\w+/-]{43}=?$/.test(secret) ? Buffer.from(secret, 'base64') : undefined;
}

const deriveKey = promisify<string, string, number, Buffer>(scrypt);

function decipher(key: Buffer, name: string, nonce: Buffer, text: Buffer): string {
  try {
    const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(name))
      .setAuthTag(text.subarray(-tagBytes));
    return cipher.update(text.subarray(0, -tagBytes), undefined, 'utf8') + cipher.final('utf8');
  } catch (cause) {
    throw new StoreError(`${name} in the store was damaged or replaced; enter it again.`, { cause });
  }
}

function wrongKey(name: string, hasOld: boolean): StoreError {
  const which = hasOld
    ? 'Neither GW_SECRET_KEY nor GW_SECRET_KEY_OLD is the one'
    : 'GW_SECRET_KEY is not the one';
  return new StoreError(
    `${which} that ${name} was encrypted with; set that one again, or enter the credential again.`,
  );
}

function decode(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}
