import type { Exchange } from './exchange.js';

/**
 * Array of the open requests, each with its index. Not a Set: V8 keeps a Set's outgrown tables chained in old
 * space, which holds their entries in memory and slows every minor GC.
 */
export class OpenExchanges {
  readonly #all: Exchange[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(exchange: Exchange): void {
    exchange.place = this.#all.push(exchange) - 1;
  }

  /** Removes an exchange; the last one takes its index. */
  delete({ place }: Exchange): void {
    const last = this.#all.pop();
    if (!last || last.place === place) return;
    last.place = place;
    this.#all[place] = last;
  }

  /** Snapshot of the open exchanges. */
  list(): readonly Exchange[] {
    return [...this.#all];
  }
}
