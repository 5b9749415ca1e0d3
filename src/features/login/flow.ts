import { hkdfSync } from 'node:crypto';
import { isRecord } from '../../kit/schema/record.js';

/** Login that has begun at the provider: the secrets that its callback must match, and the page to return to. */
export interface Flow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly returnTo: string;
}

/** Lifetime of a flow, and of its cookie. */
export const flowSeconds = 600;

/** Encrypts flows for the cookie of the browser that began them, so that no instance has to remember them. */
export class FlowSeal {
  readonly #key: Uint8Array;
  readonly #now: () => number;

  /** `secrets`: the same on every instance; `context`: the binding of a flow. */
  constructor(secrets: readonly string[], context: string, now: () => number) {
    const input = JSON.stringify(secrets);
    this.#key = new Uint8Array(hkdfSync('sha256', input, '', `gw2api login flow ${context}`, 32));
    this.#now = now;
  }

  async seal(flow: Flow): Promise<string> {
    const { EncryptJWT } = await import('jose');
    return new EncryptJWT({ ...flow })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(Math.floor(this.#now() / 1000) + flowSeconds)
      .encrypt(this.#key);
  }

  /** Undefined for a text that is not a flow of this gateway, and for an expired one. */
  async open(text: string): Promise<Flow | undefined> {
    const { jwtDecrypt, errors } = await import('jose');
    try {
      const { payload } = await jwtDecrypt(text, this.#key, {
        currentDate: new Date(this.#now()),
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      return isFlow(payload) ? payload : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}

function isFlow(value: unknown): value is Flow {
  return (
    isRecord(value) &&
    ['state', 'nonce', 'verifier', 'returnTo'].every((key) => typeof value[key] === 'string')
  );
}
