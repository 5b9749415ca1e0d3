import { LateError, within, type Logger } from '../../plugin/index.js';
import { StoreAwayError } from '../store-error.js';

export interface BreakerOptions {
  /** Name of the server in log lines. */
  readonly name: string;
  /** Rejects while the server does not answer. */
  readonly probe: () => Promise<unknown>;
  /** True if an error means that the server is unreachable, not that it has refused something. */
  readonly isAbsence: (error: unknown) => boolean;
  /** Called when the circuit opens; `isSilent` is true after a timeout. */
  readonly left: (isSilent: boolean) => void;
  readonly returned: () => void;
  readonly log: Logger;
}

/**
 * Circuit breaker between requests and a server. Opens at a connection failure, or at a timeout while no
 * other call is answered, so that requests no longer wait; closes once a probe is answered.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  #timer: NodeJS.Timeout | undefined;
  /** Timer of the health check: an idle store must notice a server that is down, too. */
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

  /** Runs `work` and rejects as it does; rejects at once while the circuit is open. */
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

  /** True if another call was answered recently: then the server is alive, only busy. */
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

/** Interval of health checks while the circuit is closed. */
const checkEveryMs = 5000;

/** Delay of the first probe: perhaps only one connection broke. */
const firstProbeMs = 50;
const probeEveryMs = 500;
const defaultPatienceMs = 400;
const probePatienceMs = 1500;
