/** Quota of entries without changes, by actor, so that refused calls cannot fill the log. */
export class EntryQuota {
  readonly #now: () => number;
  #minute = -1;
  #counts = new Map<string, Count>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Undefined for an entry beyond the quota, else the number of those since the last one. */
  take(actor: string): number | undefined {
    const count = this.#countOf(actor);
    count.taken += 1;
    if (count.taken > maxPerMinute) {
      count.refused += 1;
      return undefined;
    }
    const { refused } = count;
    count.refused = 0;
    return refused;
  }

  #countOf(actor: string): Count {
    const minute = Math.floor(this.#now() / 60_000);
    if (minute !== this.#minute) this.#counts = refusedOf(this.#counts);
    this.#minute = minute;
    const name = this.#counts.has(actor) || this.#counts.size < maxActors ? actor : others;
    const count = this.#counts.get(name) ?? { taken: 0, refused: 0 };
    this.#counts.set(name, count);
    return count;
  }
}

interface Count {
  taken: number;
  refused: number;
}

/** Counts for the next minute, of the actors with unreported refused entries. */
function refusedOf(counts: ReadonlyMap<string, Count>): Map<string, Count> {
  const kept = [...counts].filter(([, { refused }]) => refused > 0);
  return new Map(kept.map(([actor, { refused }]) => [actor, { taken: 0, refused }]));
}

const maxPerMinute = 60;
const maxActors = 1000;

/** Count of all actors beyond `maxActors`; no kind of actor has this name. */
const others = '';
