import type Koa from 'koa';
import type { PipelineConfig } from '../../../config/config.js';
import type { Models, Operation } from '../../../plugin/index.js';
import { defaultPipeline, type Interceptor } from '../../../plugin/core.js';
import type { RequestTrace } from '../../trace/request-trace.js';
import type { Conditional } from '../order/when.js';
import { pipelineChooser } from './choice.js';
import type { ReadyStage } from './set-up.js';
import { composeForked, type Stage } from './traced.js';
import type { PipelineWatch } from './watch.js';

/** The stages of all pipelines of a config. */
export interface PipelineStages {
  /** Stages that all requests pass first. */
  readonly head: readonly ReadyStage[];
  /** Stages below them, by the name of the pipeline. */
  readonly tails: ReadonlyMap<string, readonly ReadyStage[]>;
  readonly choose: (request: Conditional) => string;
}

/** Divides the stages of each pipeline at the end of the common part, the first `headLength` of the default one. */
export function pipelineStages(
  lists: ReadonlyMap<string, readonly ReadyStage[]>,
  head: ReadonlySet<ReadyStage>,
  pipelines: readonly PipelineConfig[],
  models: Models,
): PipelineStages {
  const tails = [...lists].map(([name, list]) => [name, list.filter((stage) => !head.has(stage))] as const);
  return { head: [...head], tails: new Map(tails), choose: pipelineChooser(pipelines, models) };
}

/** The stages that requests of a kind pass, as one middleware. */
export function composeFor(
  operation: Operation,
  { head, tails, choose }: PipelineStages,
  watch: PipelineWatch | undefined,
): Koa.Middleware {
  const passed = (stages: readonly ReadyStage[]) =>
    stages.filter(({ plugin }) => plugin.operations.includes(operation));
  const first = passed(head);
  const lists = new Map([...tails].map(([name, stages]) => [name, passed(stages)]));
  const outermost = outermostOf(operation, first, lists);
  const composed = composeForked(
    {
      head: stagesOf(operation, first),
      tails: new Map([...lists].map(([name, stages]) => [name, stagesOf(operation, stages)])),
      choose: (ctx) => chosen(ctx, choose(ctx), outermost),
    },
    watch,
  );
  return seeded(outermost.head, composed);
}

/** A stage of a request without a call of a model has no interceptor. */
function stagesOf(operation: Operation, stages: readonly ReadyStage[]): readonly Stage[] {
  const own = stages.flatMap(({ stage }) => stage ?? []);
  return operation === 'generate' ? own : own.map((stage) => ({ ...stage, interceptor: undefined }));
}

/** Interceptors around all others: those of the common part, and of each pipeline that has some. */
interface Outermost {
  readonly head: readonly Interceptor[];
  readonly tails: ReadonlyMap<string, readonly Interceptor[]>;
}

function outermostOf(
  operation: Operation,
  head: readonly ReadyStage[],
  tails: ReadonlyMap<string, readonly ReadyStage[]>,
): Outermost {
  if (operation !== 'generate') return { head: [], tails: new Map() };
  const own = [...tails].map(([name, stages]) => [name, interceptors(stages)] as const);
  return { head: interceptors(head), tails: new Map(own.filter(([, list]) => list.length > 0)) };
}

function interceptors(stages: readonly ReadyStage[]): readonly Interceptor[] {
  return stages.flatMap(({ outermost }) => outermost ?? []);
}

/** Takes note of a chosen pipeline. */
function chosen(ctx: Koa.Context, name: string, { head, tails }: Outermost): string {
  const state = ctx.state as { readonly trace: RequestTrace; interceptors: readonly Interceptor[] }; // Koa types its state as anything
  if (name !== defaultPipeline) state.trace.choose(name);
  const added = tails.get(name);
  if (added) state.interceptors = Object.freeze(state.interceptors.toSpliced(head.length, 0, ...added));
  return name;
}

/** Middleware whose requests begin with these interceptors. */
function seeded(interceptors: readonly Interceptor[], stages: Koa.Middleware): Koa.Middleware {
  if (interceptors.length === 0) return stages;
  const list = Object.freeze([...interceptors]);
  return (ctx, next) => {
    (ctx.state as { interceptors: readonly Interceptor[] }).interceptors = list; // Koa types its state as anything
    return stages(ctx, next);
  };
}
