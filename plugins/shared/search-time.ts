import { setImmediate as nextTurn } from 'node:timers/promises';
import { GatewayError } from '@gw2api/gateway/plugin';

/** Time left for the searches of one request together, in milliseconds of work. */
export class SearchTime {
  readonly #now: () => number;
  #leftMs = maxMs;

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Time of the request that this object belongs to, shared by all stages that search it. */
  static of(owner: object, now: () => number): SearchTime {
    const time = ofRequests.get(owner) ?? new SearchTime(now);
    ofRequests.set(owner, time);
    return time;
  }

  get isOver(): boolean {
    return this.#leftMs <= 0;
  }

  /** Runs a search, whose work counts. */
  async run<Result>(search: (turn: SearchTurn) => Promise<Result>): Promise<Result> {
    const turn = new SearchTurn(this.#now, {
      left: () => this.#leftMs,
      spend: (ms) => void (this.#leftMs -= ms),
    });
    try {
      return await search(turn);
    } finally {
      turn.end();
    }
  }
}

const ofRequests = new WeakMap<object, SearchTime>();
const maxMs = 2000;

interface Budget {
  left(): number;
  spend(ms: number): void;
}

/** Work of a search between two turns of the event loop. */
export class SearchTurn {
  readonly #now: () => number;
  readonly #budget: Budget;
  #beganMs: number;

  constructor(now: () => number, budget: Budget) {
    this.#now = now;
    this.#budget = budget;
    this.#beganMs = now();
  }

  /** True if other requests have waited long enough. */
  get isOver(): boolean {
    return this.#now() - this.#beganMs >= turnMs;
  }

  /** Lets the event loop do other work; that does not count. */
  async next(): Promise<void> {
    this.end();
    await nextTurn();
    this.#beganMs = this.#now();
  }

  end(): void {
    const nowMs = this.#now();
    this.#budget.spend(nowMs - this.#beganMs);
    this.#beganMs = nowMs;
  }

  /** Throws `invalid_request` if the time of the request is over; `name`: the name of the pattern. */
  check(name: string): void {
    if (this.#now() - this.#beganMs <= this.#budget.left()) return;
    this.#budget.spend(Infinity);
    const message = `Searching this request for the pattern "${name}" of this gateway takes too long.`;
    throw new GatewayError('invalid_request', message);
  }
}

const turnMs = 10;
