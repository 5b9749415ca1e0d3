import type { StagePlace, TimedStage } from '../../plugin/core.js';

/** Stage with its start and its end, milliseconds of `performance.now()`; without an end while it is at work. */
export class TracedStage implements TimedStage {
  readonly stage: string;
  ms = 0;
  beganMs = 0;
  endedMs: number | undefined = undefined;
  declare skipped?: true;
  readonly #path: string;

  constructor({ stage, path }: StagePlace) {
    this.stage = stage;
    this.#path = path;
  }

  isAt(path: string): boolean {
    return this.#path === path;
  }
}

/** A stage that a request has entered. */
export interface StageStep {
  readonly place: StagePlace;
  readonly timed: TracedStage;
  /** The one that waits for it. */
  readonly above: StageStep | undefined;
}
