import type Koa from 'koa';
import compose from 'koa-compose';
import type { RequestTrace, StagePlace } from '../plugin/internal.js';

/** A stage that requests can pass. */
export interface Stage {
  readonly place: StagePlace;
  readonly middleware: Koa.Middleware;
  /** Filter of requests: those that it rejects skip the stage. */
  readonly takes: ((state: object) => boolean) | undefined;
}

/** Composes stages into one middleware, each around those below it. */
export function composeStages(stages: readonly Stage[]): Koa.Middleware {
  return compose(stages.map(traced));
}

/** Middleware of a stage that traces its time, its error, and whether it ended the request. */
export function traced({ place, middleware, takes }: Stage): Koa.Middleware {
  const pass: Koa.Middleware = async (ctx, next) => {
    const { trace } = ctx.state as { trace: RequestTrace }; // Koa types its state as anything
    const step = trace.enter(place);
    try {
      await middleware(ctx, next);
      trace.leave(step);
    } catch (error) {
      trace.leaveFailed(step, error);
      throw error;
    }
  };
  return takes ? (ctx, next) => (takes(ctx.state) ? pass(ctx, next) : next()) : pass;
}
