import { ReloadMetrics } from './reload-metrics.js';
import type { Prepared } from './prepared.js';
import type { Services } from '../services.js';

/** Reloads of this process, each counted and timed. */
export class MeasuredReloads {
  readonly #metrics: ReloadMetrics;
  readonly #now: () => number;

  constructor({ metrics, now }: Pick<Services, 'metrics' | 'now'>) {
    this.#metrics = new ReloadMetrics(metrics, now);
    this.#now = now;
  }

  /** Counts a reload as refused where its config is. */
  async check<Result>(checking: Promise<Result>): Promise<Result> {
    try {
      return await checking;
    } catch (error) {
      this.#metrics.refused();
      throw error;
    }
  }

  /** Prepares a reload that is measured from here until it is taken; one that is left is refused elsewhere. */
  async prepare(prepare: () => Promise<Prepared>): Promise<Prepared> {
    const sinceMs = this.#now();
    const prepared = await this.check(prepare());
    const tookMs = this.#now() - sinceMs;
    return {
      changes: prepared.changes,
      runtime: prepared.runtime,
      hold: (onEnd) =>
        prepared.hold((end) => {
          if (end === 'committed') this.#metrics.taken(this.#now() - tookMs); // without the time of the canary
          onEnd(end);
        }),
      take: async () => {
        const taken = await this.check(prepared.take());
        this.#metrics.taken(sinceMs);
        return taken;
      },
      leave: () => {
        this.#metrics.refused();
        return prepared.leave();
      },
    };
  }
}
