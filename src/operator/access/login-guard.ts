import { AddressMeters } from '../../engine/http/address-meters.js';
import { GatewayError } from '../../plugin/index.js';
import type { MeterReading, Meters } from '../../plugin/core.js';

interface LoginGuardOptions {
  /** Counters shared by all instances. */
  readonly meters: Meters;
  /** Secret that is the same on every instance. */
  readonly secret: Buffer;
}

/** Rate limit for wrong logins, counted by address and minute. */
export class LoginGuard {
  readonly #wrong: AddressMeters;

  constructor({ meters, secret }: LoginGuardOptions) {
    const name = 'console-logins';
    this.#wrong = new AddressMeters({ meters, secret, name, limit: maxWrong, windowMs: 60_000 });
  }

  /** Throws `rate_limited` if this address must wait. */
  async enter(address: string): Promise<void> {
    const wrong = await this.#wrong.read(address);
    if (wrong && wrong.used >= maxWrong) throw tooMany(wrong);
  }

  /**
   * Counts a login as wrong before the password is checked, because many may come at once; the returned
   * function undoes the count for a right password. Throws `rate_limited` if this address must wait.
   */
  async try(address: string): Promise<() => Promise<void>> {
    const taken = await this.#wrong.take(address);
    if (!taken.isAllowed) throw tooMany(taken);
    return () => this.#wrong.giveBack(address);
  }
}

const maxWrong = 5;

function tooMany({ resetsInMs }: MeterReading): GatewayError {
  const seconds = Math.max(1, Math.ceil(resetsInMs / 1000));
  return new GatewayError('rate_limited', `Too many wrong logins; try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  });
}
