import type { Exchange } from './exchange.js';

/**
 * The requests under way, each of which knows its place. Not a Set: the table that a Set has outgrown, and it outgrows
 * one every few requests, still points to the next one. Once such a table is old, all that it ever held stays in memory
 * until the next full collection, and each small one has to look through it.
 */
export class OpenExchanges {
  readonly #all: Exchange[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(exchange: Exchange): void {
    exchange.place = this.#all.push(exchange) - 1;
  }

  /** The last one takes the place of this one. */
  delete({ place }: Exchange): void {
    const last = this.#all.pop();
    if (!last || last.place === place) return;
    last.place = place;
    this.#all[place] = last;
  }

  /** As they are now, whatever comes and goes meanwhile. */
  list(): readonly Exchange[] {
    return [...this.#all];
  }
}
