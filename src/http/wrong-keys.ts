import {
  AddressMeters,
  isGatewayError,
  sleep,
  type CacheStats,
  type Clock,
  type Meters,
} from '../plugin/internal.js';
import type { CoreMiddleware } from './exchange.js';

interface WrongKeysOptions {
  /** Count for all instances. */
  readonly meters: Meters;
  /** The same on every instance. */
  readonly secret: Buffer;
  readonly clock: Clock;
}

/**
 * Throttle: delays the 401 of an address that tries many keys. Valid keys are neither counted nor delayed.
 */
export class WrongKeys {
  readonly #meters: AddressMeters;
  readonly #clock: Clock;
  #waiting = 0;

  constructor({ meters, secret, clock }: WrongKeysOptions) {
    this.#clock = clock;
    const name = 'wrong-keys';
    this.#meters = new AddressMeters({ meters, secret, name, limit: maxWrong, windowMs: 60_000 });
  }

  /** Delayed answers. */
  get fill(): CacheStats {
    return { entries: this.#waiting, capacity: maxWaiting };
  }

  /** Middleware around all key checks. */
  readonly middleware: CoreMiddleware = async (ctx, next) => {
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
    if (isAllowed || this.#waiting >= maxWaiting) return;
    this.#waiting += 1;
    await sleep(this.#clock, delayMs, signal); // or until the caller has disconnected
    this.#waiting -= 1;
  }
}

/** Max wrong keys of an address per minute without a delay. */
const maxWrong = 20;
const delayMs = 1000;

/** Max delayed answers, each of which holds memory and a connection; beyond it they are sent at once. */
const maxWaiting = 100;

/** True for a wrong key of a caller. An upstream that refuses its account may use the same code. */
function isWrongKey(error: unknown): boolean {
  return isGatewayError(error) && error.code === 'invalid_api_key' && error.failure === undefined;
}
