import type Koa from 'koa';
import compose from 'koa-compose';
import { joining, type Interceptor, type StagePlace } from '../../../plugin/core.js';
import type { MessagesRequest } from '../../../plugin/index.js';
import type { RequestTrace } from '../../trace/request-trace.js';
import { stepsOf } from '../order/alternatives.js';
import type { PipelineWatch } from './watch.js';
import type { Conditional } from '../order/when.js';

/** A stage that requests can pass. */
export interface Stage {
  readonly place: StagePlace;
  readonly middleware: Koa.Middleware;
  /** Wraps the call of the requests that pass the stage. */
  readonly interceptor?: Interceptor | undefined;
  /** Filter of requests: those that it rejects skip the stage. */
  readonly takes: ((request: Conditional) => boolean) | undefined;
  /** Conditions that a rejected request does not meet, in words; for a watched pipeline. */
  readonly unmet?: ((request: Conditional) => readonly string[]) | undefined;
  readonly conceals?: true | undefined;
  /** Set for alternatives; the same in those of one entry. */
  readonly group?: object | undefined;
}

/** Composes stages into one middleware, each around those below it. */
export function composeStages(stages: readonly Stage[], watch?: PipelineWatch): Koa.Middleware {
  if (!watch) return compose(stepsOf(stages).map(stepped));
  return compose(stepsOf(stages).map((step) => watchedStep(step, watch)));
}

/** Middleware of a step that reports to the watch each stage that a request has skipped. */
function watchedStep(stages: readonly Stage[], watch: PipelineWatch): Koa.Middleware {
  const watched = stages.map((stage) => watch.watched(stage));
  const pass = stepped(watched);
  return (ctx, next) => {
    const taken = stages.find(({ takes }) => !takes || takes(ctx));
    for (const { place, takes, unmet } of stages) {
      if (taken?.place === place) continue;
      const conditions = takes && !takes(ctx) ? (unmet?.(ctx) ?? []) : undefined;
      if (conditions) watch.passedBy(ctx.state, place, { kind: 'when', conditions });
      else if (taken) {
        const { stage, path } = taken.place;
        watch.passedBy(ctx.state, place, { kind: 'alternative', taken: stage, path });
      }
    }
    return pass(ctx, next);
  };
}

/** Middleware of a step: a request passes only the first stage of it that takes it. */
function stepped(stages: readonly Stage[]): Koa.Middleware {
  const alternatives = stages.map((stage) => ({ takes: stage.takes, pass: traced(stage) }));
  const [first] = alternatives;
  if (first && !first.takes) return first.pass;
  return (ctx, next) => {
    for (const { takes, pass } of alternatives) if (!takes || takes(ctx)) return pass(ctx, next);
    return next();
  };
}

/** Middleware of a stage that traces its time, its error, and whether it ended the request. */
function traced({ place, middleware, interceptor }: Stage): Koa.Middleware {
  const join = interceptor && joining(interceptor);
  // No async function: each stage of each request would pay for a second one.
  return (ctx, next) => {
    const state = ctx.state as TracedState; // Koa types its state as anything
    const { trace, reply, request } = state;
    if (reply) trace.made(reply.events); // by the stage above
    else if (request) trace.sees(request);
    const step = trace.enter(place);
    join?.(state);
    const failed = (error: unknown): never => {
      trace.leaveFailed(step, error);
      throw error;
    };
    try {
      const passed: unknown = middleware(ctx, next);
      if (passed instanceof Promise) return passed.then(() => trace.leave(step), failed);
    } catch (error) {
      return failed(error);
    }
    trace.leave(step);
    return undefined;
  };
}

interface TracedState {
  readonly trace: RequestTrace;
  readonly reply?: { readonly events: unknown };
  readonly request?: MessagesRequest;
  interceptors: readonly Interceptor[];
}
