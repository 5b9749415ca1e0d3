import type { Places } from '../plugin/index.js';

/** The places of one slot: what this instance holds, and what it knows of the others. */
export class SlotPlaces {
  readonly #places: Places;
  readonly #id: string;
  #held = 0;
  /** Asked for, and not answered yet. */
  #asking = 0;
  #elsewhere: number;

  constructor(places: Places, id: string) {
    this.#places = places;
    this.#id = id;
    this.#elsewhere = places.heldElsewhere(id);
  }

  /** Over all instances, as far as it is known. */
  get inFlight(): number {
    return this.#held + this.#elsewhere;
  }

  get held(): number {
    return this.#held;
  }

  get heldElsewhere(): number {
    return this.#elsewhere;
  }

  /** Also those that this instance has asked for. */
  get claimed(): number {
    return this.#held + this.#asking + this.#elsewhere;
  }

  /** This instance has something to do with it. */
  get isUsed(): boolean {
    return this.#held + this.#asking > 0;
  }

  /** As far as it is known: only `take` can say it. */
  hasRoom(limit: number): boolean {
    return this.claimed < limit;
  }

  /** At once where nobody has to be asked. */
  take(limit: number): boolean | Promise<boolean> {
    const answer = this.#places.take(this.#id, limit);
    return typeof answer === 'boolean' ? this.#count(answer) : this.#await(answer);
  }

  release(): void {
    this.#held -= 1;
    this.#places.release(this.#id);
  }

  /** The others hold more or fewer than before; true where they hold fewer. */
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

/** The places of all slots, by id: they outlast an entry, since a slot that was taken away may come back meanwhile. */
export class PlaceBook {
  readonly #places: Places;
  readonly #byId = new Map<string, SlotPlaces>();
  readonly #stopWatching: () => void;

  /** `onFreed`: others have given back places of a slot. */
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

  /** Lets go of slots that are neither there nor used any more. */
  tidy(isThere: (id: string) => boolean): void {
    for (const [id, places] of this.#byId) if (!places.isUsed && !isThere(id)) this.#byId.delete(id);
  }

  close(): void {
    this.#stopWatching();
  }
}
