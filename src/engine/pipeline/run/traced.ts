import type Koa from 'koa';
import { joining, type Interceptor, type StagePlace } from '../../../plugin/core.js';
import type { MessagesRequest } from '../../../plugin/index.js';
import type { RequestTrace } from '../../trace/request-trace.js';
import { stepsOf } from '../../../config/pipelines/steps.js';
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

/** Composes stages into one middleware, each around those below it, with the rules of koa-compose. */
export function composeStages(stages: readonly Stage[], watch?: PipelineWatch): Koa.Middleware {
  const steps = toSteps(stages, watch);
  return (ctx, next) => new Passage(steps, ctx, next).enter(0);
}

/** Stages of several pipelines for one kind of request. */
export interface ForkedStages {
  /** Stages that all requests pass first. */
  readonly head: readonly Stage[];
  /** Stages below them, by the name of the pipeline. */
  readonly tails: ReadonlyMap<string, readonly Stage[]>;
  /** Name of the pipeline of a request that has passed the head. */
  readonly choose: (ctx: Koa.Context) => string;
}

/** Composes pipelines into one middleware as `composeStages` does: each request continues in the chosen one. */
export function composeForked({ head, tails, choose }: ForkedStages, watch?: PipelineWatch): Koa.Middleware {
  const lists = new Map<string, readonly Step[]>();
  const fork: Step = { stages: [], fork: (ctx) => lists.get(choose(ctx)) ?? begin };
  const begin = [...toSteps(head, watch), fork];
  for (const [name, tail] of tails) lists.set(name, [...begin, ...toSteps(tail, watch)]);
  return (ctx, next) => new Passage(begin, ctx, next).enter(0);
}

function toSteps(stages: readonly Stage[], watch: PipelineWatch | undefined): readonly Step[] {
  return stepsOf(stages).map((step) => (watch ? watchedStep(step, watch) : stepOf(step)));
}

/** Place of the pipeline: a request passes only the first stage of it that takes it. */
interface Step {
  readonly stages: readonly EnteredStage[];
  /** Is called with each request that comes here. */
  readonly note?: (ctx: Koa.Context) => void;
  /** Gives the steps that a request continues with, which are the same down to this one. */
  readonly fork?: (ctx: Koa.Context) => readonly Step[];
}

interface EnteredStage extends Pick<Stage, 'place' | 'middleware' | 'takes'> {
  /** Adds the interceptor to those of a request. */
  readonly join: ReturnType<typeof joining> | undefined;
}

function stepOf(stages: readonly Stage[]): Step {
  return {
    stages: stages.map(({ place, middleware, takes, interceptor }) => {
      return { place, middleware, takes, join: interceptor && joining(interceptor) };
    }),
  };
}

/** Step that reports to the watch each stage that a request has skipped. */
function watchedStep(stages: readonly Stage[], watch: PipelineWatch): Step {
  const note = (ctx: Koa.Context): void => {
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
  };
  return { ...stepOf(stages.map((stage) => watch.watched(stage))), note };
}

/** Way of one request through the steps. Traces each stage's time, its error, and whether it ended the request. */
class Passage {
  #steps: readonly Step[];
  readonly #ctx: Koa.Context;
  readonly #next: Koa.Next;
  /** Index of the step that was entered last. */
  #entered = -1;

  constructor(steps: readonly Step[], ctx: Koa.Context, next: Koa.Next) {
    this.#steps = steps;
    this.#ctx = ctx;
    this.#next = next;
  }

  /** Passes the step with this index, and those below it. */
  enter(at: number): Promise<unknown> {
    if (at <= this.#entered) return Promise.reject(new Error('next() called multiple times'));
    this.#entered = at;
    try {
      const step = this.#steps[at];
      if (!step) return Promise.resolve(this.#next());
      step.note?.(this.#ctx);
      if (step.fork) this.#steps = step.fork(this.#ctx);
      for (const stage of step.stages)
        if (!stage.takes || stage.takes(this.#ctx)) return this.#run(stage, at);
      return this.enter(at + 1);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  // No async function: each stage of each request would pay for a second one.
  #run({ place, middleware, join }: EnteredStage, at: number): Promise<unknown> {
    const state = this.#ctx.state as TracedState; // Koa types its state as anything
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
      const passed: unknown = middleware(this.#ctx, () => this.enter(at + 1));
      if (passed instanceof Promise) return passed.then(() => trace.leave(step), failed);
    } catch (error) {
      return failed(error);
    }
    trace.leave(step);
    return Promise.resolve();
  }
}

interface TracedState {
  readonly trace: RequestTrace;
  readonly reply?: { readonly events: unknown };
  readonly request?: MessagesRequest;
  interceptors: readonly Interceptor[];
}
