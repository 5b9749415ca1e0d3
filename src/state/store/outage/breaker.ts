import { LateError, within } from '../../../kit/time/within.js';
import type { Clock, Logger } from '../../../plugin/index.js';
import { StoreDownError } from '../store-error.js';

/** Releases a place. */
type Leave = () => void;

interface BreakerOptions {
  /** Name of the server in log lines. */
  readonly name: string;
  /** Rejects while the server does not answer. */
  readonly probe: () => Promise<unknown>;
  /** True if an error means that the server is unreachable, not that it has refused something. */
  readonly isUnavailable: (error: unknown) => boolean;
  /**
   * Waits until a call can reach the server; that wait is not part of the call's time, and its failure does not concern
   * the server.
   */
  readonly takePlace: () => Leave | Promise<Leave>;
  /** Called when the circuit opens; `isSilent` is true after a timeout. */
  readonly onOpen: (isSilent: boolean) => void;
  readonly onClose: () => void;
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
  /** Error that the circuit was opened for. */
  #reason: unknown;
  #isDown = false;
  #answeredAtMs = -Infinity;
  #isClosed = false;

  constructor(options: BreakerOptions) {
    this.#options = options;
    const check = () => void this.run(options.probe, probeTimeoutMs).catch(() => undefined); // recorded by `run`
    this.#check = setInterval(check, checkEveryMs).unref();
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  /** Runs `work` and rejects as it does; rejects at once while the circuit is open. */
  async run<Result>(work: () => Promise<Result>, timeoutMs = defaultTimeoutMs): Promise<Result> {
    this.#refuseIfDown();
    const leave = await this.#options.takePlace();
    try {
      const answer = await within(this.#call(work).finally(leave), timeoutMs, late(timeoutMs), setLoopTimer);
      this.#answeredAtMs = performance.now();
      return answer;
    } catch (error) {
      const isBusy = error instanceof LateError && this.#hasAnsweredSince(timeoutMs / 2);
      if (!isBusy && this.#options.isUnavailable(error)) this.#leave(error);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearInterval(this.#check);
  }

  async #call<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#refuseIfDown(); // it may have opened while the call waited for its place
    return work();
  }

  #refuseIfDown(): void {
    if (!this.#isDown) return;
    throw new StoreDownError(`${this.#options.name} is away.`, { cause: this.#reason });
  }

  /** True if another call was answered recently: then the server is alive, only busy. */
  #hasAnsweredSince(agoMs: number): boolean {
    return performance.now() - this.#answeredAtMs < agoMs;
  }

  #leave(error: unknown): void {
    if (this.#isDown || this.#isClosed) return;
    const { name, log, onOpen } = this.#options;
    this.#isDown = true;
    this.#reason = error;
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ reason }, `${name} is unavailable; requests continue without it until it answers.`);
    onOpen(error instanceof LateError);
    this.#probeIn(firstProbeMs);
  }

  #probeIn(ms: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#probe(), ms).unref();
  }

  async #probe(): Promise<void> {
    const { name, log, onClose, probe } = this.#options;
    const isUp = await within(probe(), probeTimeoutMs, late(probeTimeoutMs), setLoopTimer).then(
      () => true,
      () => false,
    );
    if (!isUp || this.#isClosed) return this.#probeIn(probeEveryMs);
    this.#isDown = false;
    log.info({}, `${name} answers again.`);
    onClose();
  }
}

/**
 * Timer of several parts, one after another, so that a delay of the event loop counts once: an answer that has arrived
 * is read between the parts.
 */
const setLoopTimer: Clock['setTimer'] = (callback, ms) => {
  let left = timerParts;
  const next = (): void => {
    left -= 1;
    if (left <= 0) callback();
    else timer = setTimeout(next, ms / timerParts);
  };
  let timer = setTimeout(next, ms / timerParts);
  return () => clearTimeout(timer);
};

/**
 * Number of parts, as an answer over a new connection takes some turns of the loop: connecting, TLS, the login, the
 * query.
 */
const timerParts = 16;

function late(ms: number): string {
  return `it has not answered within ${ms} ms`;
}

/** Interval of health checks while the circuit is closed. */
const checkEveryMs = 5000;

/** Delay of the first probe: perhaps only one connection broke. */
const firstProbeMs = 50;
const probeEveryMs = 500;
const defaultTimeoutMs = 400;
const probeTimeoutMs = 1500;
