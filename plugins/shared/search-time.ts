import { GatewayError } from 'gw2api/plugin';

/**
 * Time limit for searching all texts of one request. A search of RE2 takes linear time, and all matches of a
 * text may take as many searches as it has characters.
 */
export class SearchTime {
  readonly #now: () => number;
  #leftMs = baseMs;
  #beganMs = 0;

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Starts the search of a text of this length. */
  start(length: number): void {
    this.#leftMs += length * msPerCharacter;
    this.#beganMs = this.#now();
  }

  stop(): void {
    this.#leftMs -= this.#now() - this.#beganMs;
  }

  /** Throws `invalid_request` where the time is over; `name`: the pattern that is searched for. */
  check(name: string): void {
    if (this.#now() - this.#beganMs <= this.#leftMs) return;
    const message = `The texts of this request take too long to search for the pattern "${name}" of this gateway.`;
    throw new GatewayError('invalid_request', message);
  }
}

const baseMs = 250;
/** Several times what a pattern takes that reads each character once. */
const msPerCharacter = 0.002;
