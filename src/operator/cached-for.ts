/** Cache of one value for `ms` milliseconds; a failed read is not cached, and `forget` clears the value. */
export class CachedFor<Value> {
  readonly #read: () => Promise<Value>;
  readonly #ms: number;
  readonly #now: () => number;
  #value: Promise<Value> | undefined;
  #atMs = -Infinity;

  constructor(read: () => Promise<Value>, { ms, now }: { readonly ms: number; readonly now: () => number }) {
    this.#read = read;
    this.#ms = ms;
    this.#now = now;
  }

  get(): Promise<Value> {
    if (this.#value && this.#now() - this.#atMs < this.#ms) return this.#value;
    this.#atMs = this.#now();
    const value = this.#read();
    value.catch(() => this.forget());
    return (this.#value = value);
  }

  forget(): void {
    this.#value = undefined;
  }
}
