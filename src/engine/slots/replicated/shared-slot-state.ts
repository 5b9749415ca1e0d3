import { createHash } from 'node:crypto';
import type { Json } from '../../../plugin/index.js';
import type { SharedMap } from '../../../plugin/core.js';
import type { SlotConfig } from '../../../config/config.js';

/** State that instances share about one subject: a slot, or the current account of a slot. */
export class SharedSlotState {
  readonly #shared: SharedMap;
  readonly #subject: readonly string[];
  #isClosed = false;

  constructor(shared: SharedMap, ...subject: readonly string[]) {
    this.#shared = shared;
    this.#subject = subject;
  }

  publish(topic: string, value: Json, ttlMs?: number): void {
    if (!this.#isClosed) this.#shared.set(keyOf([...this.#subject, topic]), value, ttlMs);
  }

  /** Deletes a topic; other instances ignore deletions. */
  forget(topic: string): void {
    if (!this.#isClosed) this.#shared.delete(keyOf([...this.#subject, topic]));
  }

  get(topic: string): Json | undefined {
    return this.#shared.get(keyOf([...this.#subject, topic]));
  }

  /** Time since a topic with lifetime `ttlMs` was published, independent of the sender's clock. */
  ageMs(topic: string, ttlMs: number): number {
    const leftMs = this.#shared.ttlMs(keyOf([...this.#subject, topic])) ?? ttlMs;
    return Math.max(0, ttlMs - leftMs);
  }

  /** Snapshot of all published values, by topic. */
  all(): readonly (readonly [topic: string, value: Json])[] {
    const start = `${keyOf(this.#subject).slice(0, -1)},`;
    return this.#shared.entries(start).flatMap(([key, value]) => {
      const [topic, ...further] = partsOf(key).slice(this.#subject.length);
      return topic !== undefined && further.length === 0 ? [[topic, value] as const] : [];
    });
  }

  /**
   * Deletes the shared state of an account that this instance no longer uses, and publishes nothing more.
   * Other instances ignore deletions, so those that still use the account keep their state.
   */
  leave(): void {
    this.#isClosed = true;
    for (const [topic] of this.all()) this.#shared.delete(keyOf([...this.#subject, topic]));
  }
}

/** Key prefix of slot state in the shared map. */
export const slotKeys = 'slots/';

/** Builds a key as JSON, because slot ids and model names may contain any character. */
function keyOf(parts: readonly string[]): string {
  return slotKeys + JSON.stringify(parts);
}

/** Parts of a key: slot id, the account's digest if it is about an account, then the topic. */
export function partsOf(key: string): readonly string[] {
  return JSON.parse(key.slice(slotKeys.length)) as readonly string[]; // as `keyOf` wrote it
}

/** The account of a slot, defaults filled in, and the way to it. */
export type AccountIdentity = Pick<SlotConfig, 'account' | 'proxy'>;

/**
 * Digest that identifies an account and the proxy to it. No secret leaves the process, and instances with
 * different configs do not mix up their accounts.
 */
export function accountDigest({ account = { kind: 'none' }, proxy }: AccountIdentity): string {
  const fields = Object.entries(account)
    .map(([key, value]) => [key, typeof value === 'string' ? value.trim() : value] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([fields, proxy]))
    .digest('base64url');
}
