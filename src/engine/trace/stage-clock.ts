import type { StagePlace, TimedStage } from '../../plugin/core.js';

/** Stage with its start and its end, milliseconds of `performance.now()`; without an end while it is running. */
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
  /** The stage that waits for it. */
  readonly above: StageStep | undefined;
}

/** Stages that a request passes, each with its own time: one at a time is running, and those above it wait. */
export class StageClock {
  readonly stages: TracedStage[] = [];
  /** Stage that is being timed, since `#sinceMs`. */
  #current: StageStep | undefined;
  #sinceMs = 0;
  /** Stage whose interceptor is running, and its start. */
  #wrapping: { readonly place: StagePlace; readonly sinceMs: number } | undefined;

  /** Stage that is being timed. */
  get current(): StageStep | undefined {
    return this.#current;
  }

  /** Adds a stage, and times it from now on instead of the one above it. */
  enter(place: StagePlace): StageStep {
    const timed = new TracedStage(place);
    this.stages.push(timed);
    const step = { place, timed, above: this.#current };
    this.#turnTo(step);
    timed.beganMs = this.#sinceMs;
    return step;
  }

  /** Ends a stage; the one above it is timed from now on. */
  leave({ place, timed, above }: StageStep): void {
    this.#turnTo(above);
    timed.endedMs = this.#sinceMs;
    place.meter?.time(timed.ms);
  }

  /** Sets the stage whose interceptor the request waits for; undefined during a call of the model. */
  wrap(place: StagePlace | undefined): void {
    this.#wrapping = place && { place, sinceMs: performance.now() };
  }

  /** Moves time of the stage that waits for the call of the model to a stage that wraps it. */
  moveTime({ path }: StagePlace, ms: number): void {
    const wrapping = this.stages.findLast((timed) => timed.isAt(path));
    if (!wrapping || !this.#current) return;
    wrapping.ms += ms;
    this.#current.timed.ms -= ms;
  }

  /** Marks a stage as skipped; the stages below keep their own time. */
  skip({ path }: StagePlace): void {
    const timed = this.stages.findLast((stage) => stage.isAt(path));
    if (timed) timed.skipped = true;
  }

  /** Stage that the request waits for, with its own time until now; undefined once the stages have ended. */
  waitingFor(): { readonly place: StagePlace; readonly ms: number } | undefined {
    if (!this.#current) return undefined;
    if (this.#wrapping)
      return { place: this.#wrapping.place, ms: performance.now() - this.#wrapping.sinceMs };
    this.#turnTo(this.#current);
    const { place, timed } = this.#current;
    return { place, ms: timed.ms };
  }

  /** Adds the time since the last switch to the current stage, then times the next one. */
  #turnTo(next: StageStep | undefined): void {
    const nowMs = performance.now();
    if (this.#current) this.#current.timed.ms += nowMs - this.#sinceMs;
    this.#current = next;
    this.#sinceMs = nowMs;
  }
}
