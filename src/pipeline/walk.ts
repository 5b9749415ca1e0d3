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
  /** Requests for which it says no go by as if the stage were not there. */
  readonly takes: ((state: object) => boolean) | undefined;
}

/** What a request leaves behind in its state. */
interface Trace {
  readonly timeline: Timeline;
  /** The last error that a stage has thrown, and the stage that threw it first. */
  thrown?: { readonly error: unknown; readonly by: StagePlace };
  /** The first stage that was done: nothing below it has run, or it has not waited for that. */
  endedBy?: StagePlace;
}

/**
 * Stages as one middleware, each around those below it, as koa-compose has it. The state of a request tells afterwards
 * which one has thrown, which one has ended it, and how long each has taken.
 */
export function walkThrough(passages: readonly Passage[]): Koa.Middleware {
  return (ctx, next) => new Walk(passages, ctx, next).enter(0);
}

/** One request's way through the stages. */
class Walk {
  readonly #passages: readonly Passage[];
  readonly #ctx: Koa.Context;
  readonly #end: Koa.Next;
  readonly #trace: Trace;
  #reached = -1;
  /** Whose time it is, and since when. */
  #current: Timeline['stages'][number] | undefined;
  #sinceMs = 0;

  constructor(passages: readonly Passage[], ctx: Koa.Context, end: Koa.Next) {
    this.#passages = passages;
    this.#ctx = ctx;
    this.#end = end;
    this.#trace = ctx.state; // Koa types it as anything; nobody else writes these keys
  }

  /** A second `next` is refused like anything else that goes wrong below. Not async: `#pass` is, and once is enough. */
  enter(at: number): Promise<unknown> {
    if (at <= this.#reached) return Promise.reject(new Error('next() called multiple times'));
    this.#reached = at;
    const passage = this.#passages[at];
    if (!passage) return this.#end();
    if (passage.takes?.(this.#ctx.state) === false) return this.enter(at + 1);
    return this.#pass(passage, at);
  }

  async #pass({ place, middleware }: Passage, at: number): Promise<unknown> {
    const above = this.#current;
    const own = { stage: place.stage, ms: 0 };
    this.#trace.timeline.stages.push(own);
    this.#turnTo(own);
    try {
      const result: unknown = await middleware(this.#ctx, () => this.enter(at + 1));
      this.#trace.endedBy ??= place;
      return result;
    } catch (error) {
      if (this.#trace.thrown?.error !== error) this.#trace.thrown = { error, by: place };
      throw error;
    } finally {
      this.#turnTo(above);
      own.ms = Math.round(own.ms * 100) / 100;
    }
  }

  /** The time since the last turn was that of whoever had it. */
  #turnTo(next: Timeline['stages'][number] | undefined): void {
    const nowMs = performance.now();
    if (this.#current) this.#current.ms += nowMs - this.#sinceMs;
    this.#current = next;
    this.#sinceMs = nowMs;
  }
}
