import type { Permits } from '../../../plugin/core.js';

/** Permits in slots, by instance. */
export class MemoryPermits {
  /**
   * Permits held, by slot and then by instance. An instance with none stays until it leaves, since the next
   * request is likely soon.
   */
  readonly #held = new Map<string, Map<string, number>>();
  readonly #watchers = new Map<(slot: string) => void, string>();

  of(instance: string): Permits {
    return {
      take: (slot, limit) => {
        const own = this.#ownOf(slot, instance);
        if (own + this.#elsewhere(slot, instance) >= limit) return false;
        this.#set(slot, instance, own + 1);
        return true;
      },
      release: (slot) => this.#set(slot, instance, Math.max(0, this.#ownOf(slot, instance) - 1)),
      heldElsewhere: (slot) => this.#elsewhere(slot, instance),
      watch: (listener) => {
        this.#watchers.set(listener, instance);
        return () => void this.#watchers.delete(listener);
      },
    };
  }

  /** Releases all permits of an instance. */
  leave(instance: string): void {
    for (const [watcher, of] of this.#watchers) if (of === instance) this.#watchers.delete(watcher);
    for (const [slot, held] of this.#held) {
      if (this.#ownOf(slot, instance) > 0) this.#set(slot, instance, 0);
      held.delete(instance);
      if (held.size === 0) this.#held.delete(slot);
    }
  }

  #ownOf(slot: string, instance: string): number {
    return this.#held.get(slot)?.get(instance) ?? 0;
  }

  #elsewhere(slot: string, instance: string): number {
    let sum = 0;
    for (const [holder, count] of this.#held.get(slot) ?? []) if (holder !== instance) sum += count;
    return sum;
  }

  #set(slot: string, instance: string, count: number): void {
    const held = this.#held.get(slot);
    if (held) held.set(instance, count);
    else this.#held.set(slot, new Map([[instance, count]]));
    for (const [watcher, of] of this.#watchers) if (of !== instance) watcher(slot);
  }
}
