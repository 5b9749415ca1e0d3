/**
 * Message about the permits of an instance: `all` its counts, `some` changed counts, or that it is `gone`.
 * `hello` has all counts too, and requests those of the other instances.
 */
export type PermitsMessage = readonly [
  instance: string,
  kind: 'all' | 'hello' | 'some' | 'gone',
  counts: readonly (readonly [slot: string, count: number])[],
];

interface Other {
  readonly counts: Map<string, number>;
  lastSeenMs: number;
}

/** Permits of the other instances, as last received from each. */
export class RemotePermits {
  readonly #others = new Map<string, Other>();
  readonly #watchers = new Map<symbol, (slot: string) => void>();
  readonly #announced = new Set<string>();

  get size(): number {
    return this.#others.size;
  }

  held(slot: string): number {
    let sum = 0;
    for (const { counts } of this.#others.values()) sum += counts.get(slot) ?? 0;
    return sum;
  }

  watch(listener: (slot: string) => void): () => void {
    const id = Symbol('watcher');
    this.#watchers.set(id, listener);
    return () => void this.#watchers.delete(id);
  }

  receive(instance: string, kind: PermitsMessage[1], message: PermitsMessage[2]): void {
    const known = this.#others.get(instance)?.counts ?? new Map<string, number>();
    const counts = new Map(kind === 'some' ? [...known, ...message] : message);
    for (const [slot, count] of counts) if (count === 0) counts.delete(slot);
    if (kind === 'gone') this.#others.delete(instance);
    else this.#others.set(instance, { counts, lastSeenMs: performance.now() });
    this.#announceChanges(known, counts);
  }

  /** Removes instances that have sent nothing for `silentMs`, with their permits. */
  forgetSilent(silentMs: number): void {
    const sinceMs = performance.now() - silentMs;
    for (const [instance, { lastSeenMs }] of this.#others)
      if (lastSeenMs < sinceMs) this.receive(instance, 'gone', []);
  }

  forgetAll(): void {
    for (const instance of this.#others.keys()) this.receive(instance, 'gone', []);
  }

  announceIn(ms: number, slot: string): void {
    if (this.#announced.has(slot)) return;
    this.#announced.add(slot);
    setTimeout(() => {
      this.#announced.delete(slot);
      this.#announce(slot);
    }, ms).unref();
  }

  #announceChanges(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): void {
    for (const slot of new Set([...before.keys(), ...after.keys()]))
      if (before.get(slot) !== after.get(slot)) this.#announce(slot);
  }

  #announce(slot: string): void {
    for (const listener of this.#watchers.values()) listener(slot);
  }
}
