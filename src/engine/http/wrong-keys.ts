import { AddressMeters, networkOf } from './address-meters.js';
import { GatewayError, isGatewayError, type Clock } from '../../plugin/index.js';
import { sentKey, type CacheStats, type Meters } from '../../plugin/core.js';
import { sleep } from '../../kit/time/clock.js';
import type { CoreMiddleware } from './exchange.js';

interface WrongKeysOptions {
  /** Count for all instances. */
  readonly meters: Meters;
  /** The same on every instance. */
  readonly secret: Buffer;
  readonly clock: Clock;
  /** True for a key that was valid within the last hour; does not read the store. */
  readonly wasGood: (key: string) => boolean;
}

/**
 * Throttle: delays the 401 of an address that tries many keys, and refuses its further keys while many answers wait.
 * Valid keys are neither counted nor delayed.
 */
export class WrongKeys {
  readonly #meters: AddressMeters;
  readonly #clock: Clock;
  readonly #wasGood: (key: string) => boolean;
  /** Delayed answers by network. */
  readonly #waitingOf = new Map<string, number>();
  #waiting = 0;

  constructor({ meters, secret, clock, wasGood }: WrongKeysOptions) {
    this.#clock = clock;
    this.#wasGood = wasGood;
    const name = 'wrong-keys';
    this.#meters = new AddressMeters({ meters, secret, name, limit: maxWrong, windowMs: 60_000 });
  }

  /** Delayed answers. */
  get fill(): CacheStats {
    return { entries: this.#waiting, capacity: maxWaiting };
  }

  /** Middleware around all key checks. */
  readonly middleware: CoreMiddleware = async (ctx, next) => {
    if (this.#waiting >= maxWaitingOfOne && this.#isCrowded(ctx.ip) && this.#isSuspect(sentKey(ctx.headers)))
      throw tooMany();
    try {
      await next();
    } catch (error) {
      if (isWrongKey(error)) await this.#refused(ctx.ip, ctx.state.signal);
      throw error;
    }
  };

  /** Counts a wrong key; resolves when its answer may go out. */
  async #refused(address: string, signal: AbortSignal): Promise<void> {
    const { isAllowed } = await this.#meters.take(address);
    if (isAllowed) return;
    if (this.#isCrowded(address)) throw tooMany();
    if (this.#waiting >= maxWaiting) return;
    this.#count(address, 1);
    await sleep(this.#clock, delayMs, signal); // or until the caller has disconnected
    this.#count(address, -1);
  }

  #isCrowded(address: string): boolean {
    return (this.#waitingOf.get(networkOf(address)) ?? 0) >= maxWaitingOfOne;
  }

  /** True for a key to throttle, but not for JSON web tokens, which are checked without a look-up. */
  #isSuspect(key: string | undefined): boolean {
    return key !== undefined && !/^eyJ[\w-]*\.[\w-]*\.[\w-]*$/.test(key) && !this.#wasGood(key);
  }

  #count(address: string, change: 1 | -1): void {
    const network = networkOf(address);
    const count = (this.#waitingOf.get(network) ?? 0) + change;
    if (count === 0) this.#waitingOf.delete(network);
    else this.#waitingOf.set(network, count);
    this.#waiting += change;
  }
}

/** Max wrong keys of an address per minute without a delay. */
const maxWrong = 20;
const delayMs = 1000;

/** Max delayed answers, each of which holds memory and a connection; beyond it they are sent at once. */
const maxWaiting = 100;

/** Max delayed answers of one address; beyond it, its keys without a recent success are not looked up. */
const maxWaitingOfOne = 10;

function tooMany(): GatewayError {
  return new GatewayError('rate_limited', 'Too many wrong keys; try again in a second.', {
    headers: { 'retry-after': '1' },
  });
}

/** True for a wrong key of a caller, since an upstream that refuses its account may use the same code. */
function isWrongKey(error: unknown): boolean {
  return isGatewayError(error) && error.code === 'invalid_api_key' && error.failure === undefined;
}
