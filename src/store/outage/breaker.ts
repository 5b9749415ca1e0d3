import { LateError, within, type Logger } from '../../plugin/index.js';
import { StoreAwayError } from '../store-error.js';

export interface BreakerOptions {
  /** Whom the log speaks of. */
  readonly name: string;
  /** Rejects as long as it does not answer. */
  readonly probe: () => Promise<unknown>;
  /** Whether an error says that it cannot be reached, rather than that it has refused something. */
  readonly isAbsence: (error: unknown) => boolean;
  /** As it goes away: whether without a word. */
  readonly left: (isSilent: boolean) => void;
  readonly returned: () => void;
  readonly log: Logger;
}

/**
 * Stands between the requests and a server: the first question that is not answered in time is the last one to wait for it,
 * until a probe is answered.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #timer: NodeJS.Timeout | undefined;
  /** Also where nobody asks it has to be known whether the server is there. */
  readonly #check: NodeJS.Timeout;
  #isAway = false;
  #answeredAtMs = -Infinity;
  #isClosed = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
    const check = () => void this.run(options.probe, probePatienceMs).catch(() => undefined); // `run` draws the consequence
    this.#check = setInterval(check, checkEveryMs).unref();
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** Rejects with what `work` does, and at once while the server is away. */
  async run<Result>(work: () => Promise<Result>, patienceMs = defaultPatienceMs): Promise<Result> {
    if (this.#isAway) throw new StoreAwayError(`${this.#options.name} is away.`);
    try {
      const answer = await within(work(), patienceMs, late(patienceMs));
      this.#answeredAtMs = performance.now();
      return answer;
    } catch (error) {
      const isBusy = error instanceof LateError && this.#hasAnsweredSince(patienceMs / 2);
      if (!isBusy && this.#options.isAbsence(error)) this.#leave(error);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#check);
  }

  /** Somebody else's question: then the server lives, and just has too much to do. */
  #hasAnsweredSince(agoMs: number): boolean {
    return performance.now() - this.#answeredAtMs < agoMs;
  }

  #leave(error: unknown): void {
    if (this.#isAway || this.#isClosed) return;
    const { name, log, left } = this.#options;
    this.#isAway = true;
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ reason }, `${name} cannot be used; requests go on without it until it answers.`);
    left(error instanceof LateError);
    this.#probeIn(firstProbeMs);
  }

  #probeIn(ms: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#probe(), ms).unref();
  }

  async #probe(): Promise<void> {
    const { name, log, returned, probe } = this.#options;
    const isThere = await within(probe(), probePatienceMs, late(probePatienceMs)).then(
      () => true,
      () => false,
    );
    if (!isThere || this.#isClosed) return this.#probeIn(probeEveryMs);
    this.#isAway = false;
    log.info({}, `${name} answers again.`);
    returned();
  }
}

function late(ms: number): string {
  return `it has not answered within ${ms} ms`;
}

/** While it is there. */
const checkEveryMs = 5000;

/** It may have been just the one connection. */
const firstProbeMs = 50;
const probeEveryMs = 500;
const defaultPatienceMs = 400;
const probePatienceMs = 1500;
