import type { Logger } from '../plugin/index.js';
import { StoreError } from './store-error.js';
import { within } from './within.js';

export interface BreakerOptions {
  /** Whom the log speaks of. */
  readonly name: string;
  /** Rejects as long as it does not answer. */
  readonly probe: () => Promise<unknown>;
  /** Whether an error says that it cannot be reached, rather than that it has refused something. */
  readonly isAbsence: (error: unknown) => boolean;
  /** As it goes away, and as it is back. */
  readonly turned: (isAway: boolean) => void;
  readonly log: Logger;
  readonly probeEveryMs?: number;
}

/**
 * Stands between the requests and a server: the first question that is not answered in time is the last one to wait for it,
 * until a probe is answered.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #timer: NodeJS.Timeout | undefined;
  #isAway = false;
  #answeredAtMs = -Infinity;
  #isClosed = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** Rejects with what `work` does, and at once while the server is away. */
  async run<Result>(work: () => Promise<Result>, patienceMs = defaultPatienceMs): Promise<Result> {
    if (this.#isAway) throw new StoreError(`${this.#options.name} is away.`);
    try {
      const answer = await within(work(), patienceMs, late(patienceMs));
      this.#answeredAtMs = performance.now();
      return answer;
    } catch (error) {
      if (this.#options.isAbsence(error) && !this.#hasAnsweredSince(patienceMs / 2)) this.#leave(error);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Somebody else's question: then the server lives, and just has too much to do. */
  #hasAnsweredSince(agoMs: number): boolean {
    return performance.now() - this.#answeredAtMs < agoMs;
  }

  #leave(error: unknown): void {
    if (this.#isAway || this.#isClosed) return;
    const { name, log, turned } = this.#options;
    this.#isAway = true;
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ reason }, `${name} cannot be used; requests go on without it until it answers.`);
    turned(true);
    this.#probeSoon();
  }

  #probeSoon(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#probe(), this.#options.probeEveryMs ?? 500).unref();
  }

  async #probe(): Promise<void> {
    const { name, log, turned, probe } = this.#options;
    const isThere = await within(probe(), probePatienceMs, late(probePatienceMs)).then(
      () => true,
      () => false,
    );
    if (!isThere || this.#isClosed) return this.#probeSoon();
    this.#isAway = false;
    log.info({}, `${name} answers again.`);
    turned(false);
  }
}

function late(ms: number): string {
  return `it has not answered within ${ms} ms`;
}

const defaultPatienceMs = 400;
const probePatienceMs = 1500;
