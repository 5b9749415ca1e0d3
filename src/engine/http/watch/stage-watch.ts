import type { Exchange } from '../exchange.js';
import { every } from '../../../kit/time/clock.js';
import { systemClock, type Clock } from '../../../plugin/index.js';
import type { StagePlace } from '../../../plugin/core.js';

/** Time after which a stage that keeps a request waiting is logged. */
const waitingMs = 60_000;

/** Logs stages that keep requests waiting, once for each request and stage. */
export class StageWatch {
  readonly #requests: () => readonly Exchange[];
  readonly #limitMs: number;
  readonly #reported = new WeakMap<Exchange, StagePlace>();
  readonly #stop: () => void;

  constructor(requests: () => readonly Exchange[], limitMs = waitingMs, clock: Clock = systemClock) {
    this.#requests = requests;
    this.#limitMs = limitMs;
    this.#stop = every(clock, Math.max(10, limitMs / 6), () => this.#look());
  }

  close(): void {
    this.#stop();
  }

  #look(): void {
    for (const request of this.#requests()) {
      const { trace, log } = request.state;
      const current = trace.current();
      if (!current || current.ms < this.#limitMs || this.#reported.get(request) === current.place) continue;
      const { place, ms } = current;
      this.#reported.set(request, place);
      const { stage, path, at } = place;
      log.warn({ stage, path, at, ms: Math.round(ms) }, 'A stage is keeping a request waiting.');
    }
  }
}
