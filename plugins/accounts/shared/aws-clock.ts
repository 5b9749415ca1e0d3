import type { AccountHost, HttpAnswer } from '@gw2api/gateway/plugin/upstream';
import { timeOf } from './sigv4.js';

/** Time of signatures: that of the gateway, corrected by that of AWS where they are too far apart. */
export class AwsClock {
  readonly #host: Pick<AccountHost, 'now' | 'log' | 'slot'>;
  #offsetMs = 0;
  #hasWarned = false;

  constructor(host: Pick<AccountHost, 'now' | 'log' | 'slot'>) {
    this.#host = host;
  }

  now(): number {
    return this.#host.now() + this.#offsetMs;
  }

  /**
   * Takes over the time of an answer that has refused a signature of `signedAt`; true if that was too far off, or
   * has been corrected since.
   */
  correct(signedAt: string | undefined, headers: HttpAnswer['headers']): boolean {
    const signedAtMs = timeOf(signedAt);
    const serverMs = Date.parse(headers['date'] ?? '');
    if (signedAtMs === undefined || Number.isNaN(serverMs)) return false;
    if (Math.abs(serverMs - signedAtMs) < toleranceMs) return false;
    const isCorrected = Math.abs(serverMs - this.now()) < toleranceMs;
    if (!isCorrected) this.#offsetMs = serverMs - this.#host.now();
    this.#warn();
    return true;
  }

  #warn(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const seconds = Math.round(-this.#offsetMs / 1000);
    const direction = seconds > 0 ? 'ahead of' : 'behind';
    this.#host.log.warn(
      { slot: this.#host.slot.id, seconds },
      `The clock of this machine is ${Math.abs(seconds)} s ${direction} that of AWS, which refuses such signatures. Requests are signed with the time of AWS; set the clock.`,
    );
  }
}

/** Difference that AWS accepts. */
const toleranceMs = 300_000;
