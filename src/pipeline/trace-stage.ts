import type Koa from 'koa';

/** A stage as log lines name it. */
export interface StagePlace {
  readonly stage: string;
  /** `pipeline[3]`. */
  readonly path: string;
}

/** What a request leaves behind in its state. */
interface Trace {
  /** The last error that a stage has thrown, and the stage that threw it first. */
  thrown?: { readonly error: unknown; readonly by: StagePlace };
  /** The first stage that was done: nothing below it has run, or it has not waited for that. */
  endedBy?: StagePlace;
}

/** The same middleware; the state of a request tells afterwards which one has thrown, and which one has ended it. */
export function traceStage(middleware: Koa.Middleware, by: StagePlace): Koa.Middleware {
  return function traced(ctx, next) {
    const trace = ctx.state as Trace; // Koa types it as anything; nobody else writes these keys
    const ended = () => {
      trace.endedBy ??= by;
    };
    const failed = (error: unknown) => {
      if (trace.thrown?.error !== error) trace.thrown = { error, by };
      throw error;
    };
    try {
      const result: unknown = middleware(ctx, next);
      return result instanceof Promise ? result.then(ended, failed) : ended();
    } catch (error) {
      return failed(error);
    }
  };
}
