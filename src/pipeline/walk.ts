import type Koa from 'koa';
import type { Timeline } from '../plugin/index.js';

/** A stage as log lines name it. */
export interface StagePlace {
  readonly stage: string;
  /** `pipeline[3]`. */
  readonly path: string;
}

/** A stage that requests can pass. */
export interface Passage {
  readonly place: StagePlace;
  readonly middleware: Koa.Middleware;
  /** Filter of requests: those that it rejects skip the stage. */
  readonly takes: ((state: object) => boolean) | undefined;
}

/** Trace of a request, left in its state. */
interface Trace {
  readonly timeline: Timeline;
  /** The last error that a stage has thrown, and the stage that threw it first. */
  thrown?: { readonly error: unknown; readonly by: StagePlace };
  /** The first stage that was done: nothing below it has run, or it has not waited for that. */
  endedBy?: StagePlace;
}

/**
 * Composes stages into one middleware, each around those below it, like koa-compose. Traces in the request's
 * state which stage threw, which one ended the request, and the time of each.
 */
export function walkThrough(passages: readonly Passage[]): Koa.Middleware {
  return (ctx, next) => new Walk(passages, ctx, next).enter(0);
}

/** A stage that a request has entered. */
interface Step {
  readonly place: StagePlace;
  readonly timed: Timeline['stages'][number];
  /** The one that waits for it. */
  readonly above: Step | undefined;
  /** Promise that its `next` has returned. */
  below: Promise<unknown> | undefined;
  /** True if it returned `next()`'s own promise, so that it is done when that is. */
  isThrough: boolean;
}

/** One request's way through the stages. No async functions: each would leave more garbage per stage. */
class Walk {
  readonly #passages: readonly Passage[];
  readonly #ctx: Koa.Context;
  readonly #end: Koa.Next;
  readonly #trace: Trace;
  #reached = -1;
  /** Stage that is being timed, since `#sinceMs`. */
  #current: Step | undefined;
  #sinceMs = 0;

  constructor(passages: readonly Passage[], ctx: Koa.Context, end: Koa.Next) {
    this.#passages = passages;
    this.#ctx = ctx;
    this.#end = end;
    this.#trace = ctx.state; // Koa types it as anything; only the pipeline writes these keys
  }

  /** Enters a stage. Rejects a second `next`, like any failure below. */
  enter(at: number): Promise<unknown> {
    if (at <= this.#reached) return Promise.reject(new Error('next() called multiple times'));
    this.#reached = at;
    const passage = this.#passages[at];
    if (!passage) return this.#end();
    if (passage.takes?.(this.#ctx.state) === false) return this.enter(at + 1);
    return this.#pass(passage, at);
  }

  #pass({ place, middleware }: Passage, at: number): Promise<unknown> {
    const timed = { stage: place.stage, ms: 0 };
    const step: Step = { place, timed, above: this.#current, below: undefined, isThrough: false };
    this.#trace.timeline.stages.push(timed);
    this.#turnTo(step);
    try {
      const result: unknown = middleware(this.#ctx, () => (step.below = this.enter(at + 1) as Promise<void>));
      step.isThrough = result !== undefined && result === step.below && this.#isAtStage;
      return step.isThrough ? (result as Promise<unknown>) : this.#whenDone(step, result);
    } catch (error) {
      return this.#whenDone(step, Promise.reject(error));
    }
  }

  /** True while the last one entered is a stage, which will report its own end. */
  get #isAtStage(): boolean {
    return this.#reached < this.#passages.length;
  }

  #whenDone(step: Step, result: unknown): Promise<unknown> {
    return Promise.resolve(result).then(
      (value) => {
        this.#trace.endedBy ??= step.place;
        this.#turnTo(aboveOf(step));
        return value;
      },
      (error: unknown) => {
        if (this.#trace.thrown?.error !== error) this.#trace.thrown = { error, by: step.place };
        this.#turnTo(aboveOf(step));
        throw error;
      },
    );
  }

  /** Adds the time since the last turn to the stage that had it, then times the next one. */
  #turnTo(next: Step | undefined): void {
    const nowMs = performance.now();
    if (this.#current) this.#current.timed.ms += nowMs - this.#sinceMs;
    this.#current = next;
    this.#sinceMs = nowMs;
  }
}

/** The one above that still has something to do. */
function aboveOf(step: Step): Step | undefined {
  let { above } = step;
  while (above?.isThrough) ({ above } = above);
  return above;
}
