import { isIPv4, isIPv6 } from 'node:net';
import { GatewayError } from '../plugin/index.js';

/** Counts wrong logins by address, and lets none of an address in that has had too many within the minute. */
export class LoginGuard {
  readonly #now: () => number;
  /** Those whose minute began first come first. */
  readonly #wrong = new Map<string, { count: number; readonly sinceMs: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws `rate_limited` where this address has to wait. */
  enter(address: string): void {
    this.#forgetOld();
    const wrong = this.#wrong.get(neighbourhood(address));
    if (!wrong || wrong.count < mostWrong) return;
    const seconds = Math.ceil((wrong.sinceMs + minuteMs - this.#now()) / 1000);
    throw new GatewayError('rate_limited', `Too many wrong logins; try again in ${seconds} s.`, {
      headers: { 'retry-after': String(seconds) },
    });
  }

  wrong(address: string): void {
    const key = neighbourhood(address);
    const known = this.#wrong.get(key);
    if (known) known.count += 1;
    else this.#wrong.set(key, { count: 1, sinceMs: this.#now() });
    if (this.#wrong.size <= mostAddresses) return;
    const [oldest] = this.#wrong.keys();
    if (oldest !== undefined) this.#wrong.delete(oldest);
  }

  #forgetOld(): void {
    const overMs = this.#now() - minuteMs;
    for (const [key, { sinceMs }] of this.#wrong) {
      if (sinceMs > overMs) return;
      this.#wrong.delete(key);
    }
  }
}

const mostWrong = 5;
const minuteMs = 60_000;
const mostAddresses = 10_000;

/** Whoever has one address of IPv6 has a whole network of them: its first half counts. What is no address is as one. */
function neighbourhood(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  if (isIPv6(plain)) return networkOf(plain);
  return isIPv4(plain) ? Buffer.from(plain).toString() : 'unknown'; // a copy, which does not hold on to a whole header
}

function networkOf(address: string): string {
  const [head = '', tail] = address.split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - last.length);
  const all = [...groups, ...Array.from({ length: zeros }, () => '0'), ...last];
  return all.slice(0, 4).join(':');
}
