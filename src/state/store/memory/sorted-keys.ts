/** Keys in their order, by code units. Finding one takes logarithmic time; adding and deleting move those after it. */
export class SortedKeys {
  readonly #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  add(key: string): void {
    const at = this.#indexOf(key);
    if (this.#keys[at] !== key) this.#keys.splice(at, 0, key);
  }

  delete(key: string): void {
    const at = this.#indexOf(key);
    if (this.#keys[at] === key) this.#keys.splice(at, 1);
  }

  /** Copy of all keys. */
  all(): readonly string[] {
    return [...this.#keys];
  }

  /** Keys from the first one that is not before `start`. */
  *from(start: string): Generator<string> {
    for (let at = this.#indexOf(start); at < this.#keys.length; at += 1) yield this.#keys[at] ?? '';
  }

  /** Index of the first key that is not before this one. */
  #indexOf(key: string): number {
    let [low, high] = [0, this.#keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
