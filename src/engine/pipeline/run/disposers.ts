import { formatProblem, type ConfigProblem } from '../../../config/config.js';
import { LateError, within } from '../../../kit/time/within.js';
import type { Logger } from '../../../plugin/index.js';
import type { LoadedStage } from '../load/load-stages.js';

type Dispose = () => void | Promise<void>;

interface Pending {
  readonly dispose: Dispose;
  readonly stage: LoadedStage;
}

/**
 * Clean-up functions of a pipeline, run in reverse order of registration; one that fails or hangs does not stop the
 * others. `timeoutMs` is for all of them together, and each waits its share of that for the one before.
 */
export class Disposers {
  readonly #log: Logger;
  readonly #timeoutMs: number;
  readonly #pending: Pending[] = [];
  #isOver = false;

  constructor(log: Logger, timeoutMs: number) {
    this.#log = log;
    this.#timeoutMs = timeoutMs;
  }

  /** Registers a disposer; runs it at once if disposal has begun, as a setup that timed out may still be running. */
  add(dispose: Dispose, stage: LoadedStage): void {
    const pending = { dispose, stage };
    if (this.#isOver) void this.#attempt(pending, this.#timeoutMs);
    else this.#pending.push(pending);
  }

  /** Runs them and returns their problems. */
  async run(): Promise<readonly ConfigProblem[]> {
    this.#isOver = true;
    const deadlineMs = performance.now() + this.#timeoutMs;
    const attempts: Promise<readonly ConfigProblem[]>[] = [];
    const all = this.#pending.splice(0).toReversed();
    for (const [at, pending] of all.entries()) {
      const leftMs = Math.max(deadlineMs - performance.now(), 0);
      const attempt = this.#attempt(pending, leftMs);
      attempts.push(attempt);
      await settledWithin(attempt, leftMs / (all.length - at));
    }
    return (await Promise.all(attempts)).flat();
  }

  async #attempt({ dispose, stage }: Pending, ms: number): Promise<readonly ConfigProblem[]> {
    const { plugin, config } = stage;
    try {
      await within(
        (async () => dispose())(),
        ms,
        `was not disposed within ${this.#timeoutMs / 1000} s: a callback passed to onDispose does not settle`,
      );
      return [];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = error instanceof LateError ? why : `cannot be disposed: ${why}`;
      const problem = { at: config.at, path: config.path, subject: plugin.name, message };
      const cause = error instanceof LateError ? {} : { err: error };
      const fields = { stage: plugin.name, problem: formatProblem(problem), ...cause };
      this.#log.error(fields, 'A stage could not be disposed.');
      return [problem];
    }
  }
}

/** Resolves with a promise, which does not reject, or after `ms`. */
async function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
