import type { Backoff } from '../../../config/config.js';

interface Failing {
  readonly untilMs: number;
  readonly doubled: number;
}

/**
 * Health of the proxies of slots, as this instance sees it. Slots that share a failing one are tried last, for the
 * backoff of unreachable slots.
 */
export class WaysOut {
  readonly #byProxy = new Map<string, Failing>();

  /** Records a failed connection; several in one period count as one. */
  fail(proxy: string, { firstMs, maxMs }: Backoff, nowMs: number): void {
    const known = this.#byProxy.get(proxy);
    if (known && known.untilMs > nowMs) return;
    const doubled = known ? known.doubled + 1 : 0;
    this.#byProxy.set(proxy, { untilMs: nowMs + Math.min(firstMs * 2 ** doubled, maxMs), doubled });
  }

  succeed(proxy: string): void {
    this.#byProxy.delete(proxy);
  }

  isFailing(proxy: string | undefined, nowMs: number): boolean {
    if (this.#byProxy.size === 0 || proxy === undefined) return false;
    return (this.#byProxy.get(proxy)?.untilMs ?? 0) > nowMs;
  }

  /** True if no proxy has failed since it last worked. */
  get areWorking(): boolean {
    return this.#byProxy.size === 0;
  }

  /** Removes the proxies that no slot uses any more. */
  prune(isUsed: (proxy: string) => boolean): void {
    for (const proxy of this.#byProxy.keys()) if (!isUsed(proxy)) this.#byProxy.delete(proxy);
  }
}
