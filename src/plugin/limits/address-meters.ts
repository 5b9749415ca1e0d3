import { createHmac } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { MeterReading, Meters } from '../contract/live.js';

export interface AddressMetersOptions {
  /** Count for all instances. */
  readonly meters: Meters;
  /** Names the event that is counted; begins the names of the meters. */
  readonly name: string;
  /** The same on every instance; keeps to itself which addresses share a meter. */
  readonly secret: Buffer;
  /** The most events of an address in a window. */
  readonly limit: number;
  readonly windowMs: number;
}

/** Counts events by the address of their caller, in a bounded number of meters. */
export class AddressMeters {
  readonly #options: AddressMetersOptions;

  constructor(options: AddressMetersOptions) {
    this.#options = options;
  }

  /** Undefined where no window is open. */
  read(address: string): Promise<MeterReading | undefined> {
    return this.#options.meters.read(this.#meterOf(address));
  }

  /** Counts one, unless the address has used up its limit. */
  take(address: string): Promise<MeterReading & { readonly isAllowed: boolean }> {
    const { meters, limit, windowMs } = this.#options;
    return meters.take(this.#meterOf(address), 1, { limit, windowMs });
  }

  /** Takes one back. */
  async giveBack(address: string): Promise<void> {
    const { meters, windowMs } = this.#options;
    await meters.add(this.#meterOf(address), -1, windowMs);
  }

  /** One of 65,536: callers from ever new addresses must not fill the memory with them. */
  #meterOf(address: string): string {
    const { name, secret } = this.#options;
    const hash = createHmac('sha256', secret).update(networkOf(address)).digest('hex');
    return `${name}/${hash.slice(0, 4)}`;
  }
}

/** An address of IPv4; the first half of one of IPv6, for its owner has all of that network; all else is as one. */
function networkOf(address: string): string {
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
