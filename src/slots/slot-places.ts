import type { Places } from '../plugin/index.js';

/** Permits of one slot: those that this instance holds, and the count known for other instances. */
export class SlotPlaces {
  readonly #places: Places;
  readonly #id: string;
  #held = 0;
  /** Permits requested and not answered yet. */
  #asking = 0;
  #elsewhere: number;

  constructor(places: Places, id: string) {
    this.#places = places;
    this.#id = id;
    this.#elsewhere = places.heldElsewhere(id);
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

  /** Acquires a permit; answers synchronously if no other instance has to be asked. */
  take(limit: number): boolean | Promise<boolean> {
    const answer = this.#places.take(this.#id, limit);
    return typeof answer === 'boolean' ? this.#count(answer) : this.#await(answer);
  }

  release(): void {
    this.#held -= 1;
    this.#places.release(this.#id);
  }

  /** Updates the count of the other instances; true if it has fallen. */
  refresh(): boolean {
    const before = this.#elsewhere;
    this.#elsewhere = this.#places.heldElsewhere(this.#id);
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
export class PlaceBook {
  readonly #places: Places;
  readonly #byId = new Map<string, SlotPlaces>();
  readonly #stopWatching: () => void;

  /** Watches the permits of other instances; calls `onFreed` when they release some. */
  constructor(places: Places, onFreed: (id: string) => void) {
    this.#places = places;
    this.#stopWatching = places.watch((id) => {
      if (this.#byId.get(id)?.refresh()) onFreed(id);
    });
  }

  of(id: string): SlotPlaces {
    const known = this.#byId.get(id);
    if (known) return known;
    const places = new SlotPlaces(this.#places, id);
    this.#byId.set(id, places);
    return places;
  }

  /** Removes unused permits of slots that no longer exist. */
  tidy(isThere: (id: string) => boolean): void {
    for (const [id, places] of this.#byId) if (!places.isUsed && !isThere(id)) this.#byId.delete(id);
  }

  close(): void {
    this.#stopWatching();
  }
}
