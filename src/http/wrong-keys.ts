import { setTimeout as delay } from 'node:timers/promises';
import { AddressMeters, isGatewayError, type CacheStats, type Meters } from '../plugin/index.js';
import type { CoreMiddleware } from './exchange.js';

export interface WrongKeysOptions {
  /** Count for all instances. */
  readonly meters: Meters;
  /** The same on every instance. */
  readonly secret: Buffer;
}

/** Delays the 401 of an address that tries out many keys. Right keys are neither counted nor delayed. */
export class WrongKeys {
  readonly #meters: AddressMeters;
  #waiting = 0;

  constructor({ meters, secret }: WrongKeysOptions) {
    const name = 'wrong-keys';
    this.#meters = new AddressMeters({ meters, secret, name, limit: maxWrong, windowMs: 60_000 });
  }

  /** The answers that wait. */
  get fill(): CacheStats {
    return { entries: this.#waiting, capacity: maxWaiting };
  }

  /** The middleware around all that checks keys. */
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
    await delay(delayMs, undefined, { signal, ref: false }).catch(() => undefined); // the caller has left
    this.#waiting -= 1;
  }
}

/** Wrong keys of an address within a minute that are answered at once. */
const maxWrong = 20;
const delayMs = 1000;

/** More of them are answered at once: what waits takes memory and a connection. */
const maxWaiting = 100;

/** An upstream that refuses its account may use the same code. */
function isWrongKey(error: unknown): boolean {
  return isGatewayError(error) && error.code === 'invalid_api_key' && error.failure === undefined;
}
