import { createHash } from 'node:crypto';
import type { Json, SharedMap } from '../../plugin/index.js';
import type { SlotConfig } from '../../config/config.js';

/** What the instances tell each other about one subject: a slot, or the account that it has at the moment. */
export class SharedSlotState {
  readonly #shared: SharedMap;
  readonly #subject: readonly string[];
  #isLeft = false;

  constructor(shared: SharedMap, ...subject: readonly string[]) {
    this.#shared = shared;
    this.#subject = subject;
  }

  tell(topic: string, value: Json, ttlMs?: number): void {
    if (!this.#isLeft) this.#shared.set(keyOf([...this.#subject, topic]), value, ttlMs);
  }

  /** The others do not take it for news. */
  forget(topic: string): void {
    if (!this.#isLeft) this.#shared.delete(keyOf([...this.#subject, topic]));
  }

  get(topic: string): Json | undefined {
    return this.#shared.get(keyOf([...this.#subject, topic]));
  }

  /** Time since a topic was told that expires `ttlMs` after that, independent of the clock of the sender. */
  ageMs(topic: string, ttlMs: number): number {
    const leftMs = this.#shared.ttlMs(keyOf([...this.#subject, topic])) ?? ttlMs;
    return Math.max(0, ttlMs - leftMs);
  }

  /** All that has been told, by topic. */
  all(): readonly (readonly [topic: string, value: Json])[] {
    const start = `${keyOf(this.#subject).slice(0, -1)},`;
    return this.#shared.entries(start).flatMap(([key, value]) => {
      const [topic, ...further] = partsOf(key).slice(this.#subject.length);
      return topic !== undefined && further.length === 0 ? [[topic, value] as const] : [];
    });
  }

  /**
   * Tidies up after an account that is not used here any more; from now on nothing is told. The others do not take
   * what is gone for news, so that those that still use it keep what they know.
   */
  leave(): void {
    this.#isLeft = true;
    for (const [topic] of this.all()) this.#shared.delete(keyOf([...this.#subject, topic]));
  }
}

/** What of the shared map is about slots. */
export const slotKeys = 'slots/';

/** Slot ids and the names of models may hold any character. */
function keyOf(parts: readonly string[]): string {
  return slotKeys + JSON.stringify(parts);
}

/** Slot id, then the account's digest where it is about that, then the topic. */
export function partsOf(key: string): readonly string[] {
  return JSON.parse(key.slice(slotKeys.length)) as readonly string[]; // as `keyOf` wrote it
}

/**
 * Tells one account of a slot from another one, and the way to it. A digest: no secret leaves the process, and instances
 * that run on different configs do not take each other's account for theirs.
 */
export function accountDigest({ account, proxy }: Pick<SlotConfig, 'account' | 'proxy'>): string {
  const fields = Object.entries(account).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([fields, proxy]))
    .digest('base64url');
}
