import { randomBytes } from 'node:crypto';
import type { KnownKey } from '../../plugin/core.js';

/** Caller that a pass represents. */
export type PassedAs = KnownKey | 'master';

/** Credential of one request from within the process. */
export interface KeyPass {
  /** Text that the request sends as its key; known to this process alone. */
  readonly text: string;
  /** Revokes it if no request has used it. */
  readonly end: () => void;
}

/** Passes for requests from within the process: 256 random bits each, in memory alone, valid once. */
export class KeyPasses {
  readonly #passes = new Map<string, PassedAs>();

  make(as: PassedAs): KeyPass {
    const text = `gw-pass-${randomBytes(32).toString('base64url')}`;
    this.#passes.set(text, as);
    return { text, end: () => void this.#passes.delete(text) };
  }

  has(text: string): boolean {
    return this.#passes.has(text);
  }

  /** Takes the pass of a text; undefined if there is none. */
  take(text: string): PassedAs | undefined {
    if (this.#passes.size === 0) return undefined;
    const as = this.#passes.get(text);
    this.#passes.delete(text);
    return as;
  }
}
