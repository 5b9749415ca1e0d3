import type { Permits } from '../../../plugin/core.js';
import type { RpcChannel } from './rpc-channel.js';
import type { Grant } from './permit-grants.js';

/** Permits of this process in one slot. */
interface Share {
  held: number;
  /** Permits that it may hold without asking, including those that it holds. */
  granted: number;
  /** Limit for which they were granted. */
  limit: number;
  /** True if unused permits go back at once, because another process may wait for one. */
  isScarce: boolean;
  elsewhere: number;
  /** Granted permits to return with the next report. */
  givenBack: number;
  /** Pending requests for a permit, in the order of their answers. */
  readonly asking: ((isTaken: boolean) => void)[];
}

/** Permits granted by another process; most are taken from a reserve, without asking. */
export class IpcPermits implements Permits {
  readonly #channel: RpcChannel;
  readonly #shares = new Map<string, Share>();
  readonly #watchers = new Set<(slot: string) => void>();
  readonly #unreported = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(channel: RpcChannel) {
    this.#channel = channel;
    channel.on('live.granted', ([slot, grant]: readonly [string, Grant]) => this.#granted(slot, grant));
    channel.on('live.recall', (slot: string) => this.#recalled(slot));
    channel.on('live.elsewhere', ([slot, held]: readonly [string, number]) => this.#receive(slot, held));
    channel.onClose(() => this.#goLocal());
  }

  take(slot: string, limit: number): boolean | Promise<boolean> {
    const share = this.#shareOf(slot);
    if (this.#channel.isClosed) return takeAlone(share, limit);
    if (share.limit !== limit) this.#changeLimit(slot, share, limit);
    if (share.held < share.granted) return this.#hold(slot, share);
    return this.#ask(slot, limit, share);
  }

  release(slot: string): void {
    const share = this.#shareOf(slot);
    if (share.held === 0) return;
    share.held -= 1;
    if (share.isScarce) this.#giveBack(slot, share);
    this.#reportSoon(slot);
  }

  heldElsewhere(slot: string): number {
    return this.#shares.get(slot)?.elsewhere ?? 0;
  }

  watch(listener: (slot: string) => void): () => void {
    this.#watchers.add(listener);
    return () => void this.#watchers.delete(listener);
  }

  #shareOf(slot: string): Share {
    const known = this.#shares.get(slot);
    if (known) return known;
    const counts = { held: 0, granted: 0, limit: 0, elsewhere: 0, givenBack: 0 };
    const share: Share = { ...counts, isScarce: false, asking: [] };
    this.#shares.set(slot, share);
    return share;
  }

  #hold(slot: string, share: Share): true {
    share.held += 1;
    this.#reportSoon(slot);
    return true;
  }

  #ask(slot: string, limit: number, { asking }: Share): Promise<boolean> {
    this.#report(); // returned permits count towards the request
    this.#channel.notify('live.take', [slot, limit]);
    return new Promise((resolve) => void asking.push(resolve));
  }

  /**
   * Applies a grant and answers its request in the same turn: the next message may recall unused permits.
   */
  #granted(slot: string, { permits, isScarce }: Grant): void {
    const share = this.#shareOf(slot);
    share.granted += permits;
    share.isScarce = isScarce;
    share.asking.shift()?.(share.held < share.granted && this.#hold(slot, share));
    if (isScarce) this.#giveBack(slot, share);
  }

  /** Returns the reserve, which was granted for another limit. */
  #changeLimit(slot: string, share: Share, limit: number): void {
    share.limit = limit;
    this.#giveBack(slot, share);
  }

  #recalled(slot: string): void {
    const share = this.#shareOf(slot);
    share.isScarce = true;
    this.#giveBack(slot, share);
    this.#report();
    this.#channel.notify('live.returned', slot);
  }

  #giveBack(slot: string, share: Share): void {
    const spare = share.granted - share.held;
    if (spare <= 0) return;
    share.granted = share.held;
    share.givenBack += spare;
    this.#unreported.add(slot);
    this.#report();
  }

  /** Schedules a batched report: while nobody waits for a permit, the counts may arrive a little later. */
  #reportSoon(slot: string): void {
    this.#unreported.add(slot);
    this.#timer ??= setTimeout(() => this.#report(), reportMs).unref();
  }

  #report(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const slot of this.#unreported) {
      const share = this.#shareOf(slot);
      this.#channel.notify('live.held', [slot, share.held, share.givenBack]);
      share.givenBack = 0;
    }
    this.#unreported.clear();
  }

  #goLocal(): void {
    clearTimeout(this.#timer);
    for (const [slot, share] of this.#shares) {
      for (const resolve of share.asking.splice(0)) resolve(takeAlone(share, share.limit));
      this.#receive(slot, 0);
    }
  }

  #receive(slot: string, held: number): void {
    this.#shareOf(slot).elsewhere = held;
    for (const watcher of this.#watchers) watcher(slot);
  }
}

/** Max delay of a report of held permits, while there are plenty. */
const reportMs = 20;

function takeAlone(share: Share, limit: number): boolean {
  if (share.held >= limit) return false;
  share.held += 1;
  return true;
}
