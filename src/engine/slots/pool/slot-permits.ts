import type { Permits } from '../../../plugin/core.js';

/** Permits of one slot: those that this instance holds, and the count known for other instances. */
export class SlotPermits {
  readonly #permits: Permits;
  readonly #id: string;
  #held = 0;
  /** Permits requested and not answered yet. */
  #asking = 0;
  #elsewhere: number;

  constructor(permits: Permits, id: string) {
    this.#permits = permits;
    this.#id = id;
    this.#elsewhere = permits.heldElsewhere(id);
  }

  /** Permits in use on all instances, as far as known here. */
  get inFlight(): number {
    return this.#held + this.#elsewhere;
  }

  get held(): number {
    return this.#held;
  }

  get heldElsewhere(): number {
    return this.#elsewhere;
  }

  /** Permits in use, plus those that this instance has requested. */
  get claimed(): number {
    return this.#held + this.#asking + this.#elsewhere;
  }

  /** True if this instance holds or has requested a permit. */
  get isUsed(): boolean {
    return this.#held + this.#asking > 0;
  }

  /** True if a permit is free, as far as known here: only `take` is certain. */
  hasRoom(limit: number): boolean {
    return this.claimed < limit;
  }

  /** Acquires a permit; answers synchronously if no other instance must be asked. */
  take(limit: number): boolean | Promise<boolean> {
    const answer = this.#permits.take(this.#id, limit);
    return typeof answer === 'boolean' ? this.#count(answer) : this.#await(answer);
  }

  release(): void {
    this.#held -= 1;
    this.#permits.release(this.#id);
  }

  /** Updates the count of the other instances; true if it has fallen. */
  refresh(): boolean {
    const before = this.#elsewhere;
    this.#elsewhere = this.#permits.heldElsewhere(this.#id);
    return this.#elsewhere < before;
  }

  async #await(answer: Promise<boolean>): Promise<boolean> {
    this.#asking += 1;
    try {
      return this.#count(await answer);
    } finally {
      this.#asking -= 1;
    }
  }

  #count(isTaken: boolean): boolean {
    if (isTaken) this.#held += 1;
    return isTaken;
  }
}

/**
 * Permits of all slots, by id. Kept longer than an entry, since a removed slot may return while its permits
 * are in use.
 */
export class PermitRegistry {
  readonly #permits: Permits;
  readonly #byId = new Map<string, SlotPermits>();
  readonly #stopWatching: () => void;

  /** Watches the permits of other instances; calls `onFreed` when they release some. */
  constructor(permits: Permits, onFreed: (id: string) => void) {
    this.#permits = permits;
    this.#stopWatching = permits.watch((id) => {
      if (this.#byId.get(id)?.refresh()) onFreed(id);
    });
  }

  of(id: string): SlotPermits {
    const known = this.#byId.get(id);
    if (known) return known;
    const permits = new SlotPermits(this.#permits, id);
    this.#byId.set(id, permits);
    return permits;
  }

  /** Removes unused permits of slots that no longer exist. */
  prune(exists: (id: string) => boolean): void {
    for (const [id, permits] of this.#byId) if (!permits.isUsed && !exists(id)) this.#byId.delete(id);
  }

  close(): void {
    this.#stopWatching();
  }
}
