import { createHmac } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { GatewayError, type MeterReading, type Meters } from '../plugin/index.js';

export interface LoginGuardOptions {
  /** Counts for all instances. */
  readonly meters: Meters;
  /** The same on every instance; which addresses share a meter is nobody's to know. */
  readonly secret: Buffer;
}

/** Counts wrong logins by address, and lets none of an address in that has had too many within the minute. */
export class LoginGuard {
  readonly #meters: Meters;
  readonly #secret: Buffer;

  constructor({ meters, secret }: LoginGuardOptions) {
    this.#meters = meters;
    this.#secret = secret;
  }

  /** Throws `rate_limited` where this address has to wait. */
  async enter(address: string): Promise<void> {
    const wrong = await this.#meters.read(this.#meterOf(address));
    if (wrong && wrong.used >= mostWrong) throw tooMany(wrong);
  }

  /**
   * Counts one that is about to be tried, for many may come at once. Gives what takes it back where it was right; throws
   * `rate_limited` where this address has to wait.
   */
  async try(address: string): Promise<() => Promise<void>> {
    const meter = this.#meterOf(address);
    const taken = await this.#meters.take(meter, 1, { limit: mostWrong, windowMs: minuteMs });
    if (!taken.isAllowed) throw tooMany(taken);
    return async () => void (await this.#meters.add(meter, -1, minuteMs));
  }

  /** One of a bounded number: whoever comes by ever new addresses must not fill the memory with them. */
  #meterOf(address: string): string {
    const hash = createHmac('sha256', this.#secret).update(neighbourhood(address)).digest('hex');
    return `console-logins/${hash.slice(0, 4)}`;
  }
}

const mostWrong = 5;
const minuteMs = 60_000;

function tooMany({ resetsInMs }: MeterReading): GatewayError {
  const seconds = Math.max(1, Math.ceil(resetsInMs / 1000));
  return new GatewayError('rate_limited', `Too many wrong logins; try again in ${seconds} s.`, {
    headers: { 'retry-after': String(seconds) },
  });
}

/** Whoever has one address of IPv6 has a whole network of them: its first half counts. What is no address is as one. */
function neighbourhood(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  if (isIPv6(plain)) return networkOf(plain);
  return isIPv4(plain) ? plain : 'unknown';
}

function networkOf(address: string): string {
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - last.length);
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...last];
  return all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
