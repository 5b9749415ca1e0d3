import { AddressMeters, GatewayError, type MeterReading, type Meters } from '../../plugin/index.js';

export interface LoginGuardOptions {
  /** Count for all instances. */
  readonly meters: Meters;
  /** The same on every instance. */
  readonly secret: Buffer;
}

/** Counts wrong logins by address, and lets none of an address in that has had too many within the minute. */
export class LoginGuard {
  readonly #wrong: AddressMeters;

  constructor({ meters, secret }: LoginGuardOptions) {
    const name = 'console-logins';
    this.#wrong = new AddressMeters({ meters, secret, name, limit: maxWrong, windowMs: 60_000 });
  }

  /** Throws `rate_limited` where this address has to wait. */
  async enter(address: string): Promise<void> {
    const wrong = await this.#wrong.read(address);
    if (wrong && wrong.used >= maxWrong) throw tooMany(wrong);
  }

  /**
   * Counts one that is about to be tried, for many may come at once. Gives what takes it back where it was right; throws
   * `rate_limited` where this address has to wait.
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
