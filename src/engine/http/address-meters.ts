import { createHmac } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { MeterReading, Meters } from '../../plugin/core.js';

export interface AddressMetersOptions {
  /** Shared by all instances. */
  readonly meters: Meters;
  /** Name of the counted event; prefix of the meter names. */
  readonly name: string;
  /** HMAC key, the same on every instance; hides which addresses share a meter. */
  readonly secret: Buffer;
  /** Max events of an address in a window. */
  readonly limit: number;
  readonly windowMs: number;
}

/** Counts events per client address, in a bounded number of meters. */
export class AddressMeters {
  readonly #options: AddressMetersOptions;

  constructor(options: AddressMetersOptions) {
    this.#options = options;
  }

  /** Undefined if no window is open. */
  async read(address: string): Promise<MeterReading | undefined> {
    return this.#options.meters.read(this.#meterOf(address));
  }

  /** Counts one event, unless the address has reached its limit. */
  async take(address: string): Promise<MeterReading & { readonly isAllowed: boolean }> {
    const { meters, limit, windowMs } = this.#options;
    return meters.take(this.#meterOf(address), 1, { limit, windowMs });
  }

  /** Subtracts one event. */
  async giveBack(address: string): Promise<void> {
    const { meters, windowMs } = this.#options;
    await meters.add(this.#meterOf(address), -1, windowMs);
  }

  /**
   * Meter name: one of 65,536 hash buckets, so that callers with ever new addresses cannot fill the memory.
   */
  #meterOf(address: string): string {
    const { name, secret } = this.#options;
    const hash = createHmac('sha256', secret).update(networkOf(address)).digest('hex');
    return `${name}/${hash.slice(0, 4)}`;
  }
}

/**
 * Network of an address: an IPv4 address itself, the /64 prefix of an IPv6 address (one owner has all of it),
 * otherwise `unknown`.
 */
export function networkOf(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  if (isIPv6(plain)) return networkOfIPv6(plain);
  return isIPv4(plain) ? plain : 'unknown';
}

function networkOfIPv6(address: string): string {
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
