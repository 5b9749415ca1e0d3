/** Time that some work has taken. */
export interface Taken {
  readonly ms: number;
  readonly cpuMs: number;
  /** The longest turn of the event loop meanwhile: for that long nobody else had theirs. */
  readonly turn: Turn;
}

/** A machine that has more to do makes the one longer, and not the other. */
export interface Turn {
  readonly ms: number;
  readonly cpuMs: number;
}

/** Runs work, and watches over the turns of the event loop. */
export async function timed(work: () => Promise<unknown>): Promise<Taken> {
  const watch = new TurnWatch();
  const startedCpuMs = cpuNowMs();
  const startedMs = performance.now();
  await work();
  const ms = performance.now() - startedMs;
  return { ms, cpuMs: cpuNowMs() - startedCpuMs, turn: await watch.end() };
}

/** Measures the turns of the event loop, to about a millisecond. */
export class TurnWatch {
  #longest: Turn = { ms: 0, cpuMs: 0 };
  #last: Turn = { ms: performance.now(), cpuMs: cpuNowMs() };
  #isOver = false;
  readonly #ended: Promise<void>;

  constructor() {
    this.#ended = new Promise((resolve) => this.#turn(resolve));
  }

  /** Stops, and returns the longest times; each figure may be of another turn. */
  async end(): Promise<Turn> {
    this.#isOver = true;
    await this.#ended;
    return this.#longest;
  }

  #turn(resolve: () => void): void {
    setTimeout(() => {
      const now = { ms: performance.now(), cpuMs: cpuNowMs() };
      this.#longest = {
        ms: Math.max(this.#longest.ms, now.ms - this.#last.ms),
        cpuMs: Math.max(this.#longest.cpuMs, now.cpuMs - this.#last.cpuMs),
      };
      this.#last = now;
      if (this.#isOver) resolve();
      else this.#turn(resolve);
    }, 1);
  }
}

/** Of this process so far, all of its threads. */
export function cpuNowMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
