import type { Additions, Caller, Trace } from '../../../plugin/index.js';
import { defaultPipeline, type Interceptor } from '../../../plugin/core.js';
import type { StageInfo } from '../../../engine/pipeline/run/stage-info.js';
import type { PipelineWatch, WatchedParts } from '../../../engine/pipeline/run/watch.js';
import { errorOf } from './watched-interception.js';
import type { ExplainedStage, SkipReason } from '../explanation.js';
import { eventsOf, StageRecord } from './recording.js';
import { RequestWatch } from './request-watch.js';

/** State keys that every request has from its start. */
interface CoreState {
  readonly requestId: string;
  readonly operation: string;
  readonly format: string;
  readonly additions: Additions;
  readonly caller?: Caller;
  readonly trace: Pick<Trace, 'pipeline'>;
}

/** Max requests that are kept until their records are taken. */
const maxRequests = 100;

/** Records the effects of a pipeline's stages on each request. */
export class PipelineRecorder implements PipelineWatch {
  #pipelines: ReadonlyMap<string, readonly StageInfo[]> = new Map();
  readonly #requests = new Map<string, { readonly watch: RequestWatch; readonly state: CoreState }>();

  built(pipelines: ReadonlyMap<string, readonly StageInfo[]>): void {
    this.#pipelines = pipelines;
  }

  watched<Stage extends WatchedParts>(stage: Stage): Stage {
    const { place, middleware, interceptor, conceals } = stage;
    return {
      ...stage,
      middleware: (ctx, next) =>
        this.#of(ctx.state).pass({ middleware }, new StageRecord(place, conceals), ctx, next),
      interceptor: interceptor && this.#interceptor(interceptor, conceals),
    };
  }

  passedBy(...[state, place, reason]: Parameters<PipelineWatch['passedBy']>): void {
    this.#of(state as CoreState).records.push(StageRecord.passedBy(place, reason));
  }

  skipped(...[state, place, error]: Parameters<PipelineWatch['skipped']>): void {
    this.#of(state as CoreState)
      .recordOf(place)
      ?.skip({ kind: 'error', error: errorOf(error) });
  }

  /** Stages of a request that has ended, in the order of the config, and the resulting state. */
  take(requestId: string): {
    readonly stages: readonly ExplainedStage[];
    readonly state: Partial<CoreState>;
  } {
    const request = this.#requests.get(requestId);
    this.#requests.delete(requestId);
    const records = request?.watch.records ?? [];
    const passed = this.#pipelines.get(request?.state.trace.pipeline ?? defaultPipeline) ?? [];
    const stages = passed.map((info) =>
      report(
        info,
        records.find(({ place }) => place.path === info.path),
        request?.state.operation ?? '',
      ),
    );
    return { stages, state: request?.state ?? {} };
  }

  #interceptor(interceptor: Interceptor, conceals: true | undefined): Interceptor {
    const { place, intercept } = interceptor;
    return {
      ...interceptor,
      intercept: (request, call, ctx) => {
        const watch = this.#of(ctx.state);
        const record = watch.recordOf(place) ?? new StageRecord(place, conceals);
        return watch.intercept(intercept, record, { request, call, ctx });
      },
    };
  }

  #of(state: CoreState): RequestWatch {
    const known = this.#requests.get(state.requestId);
    if (known) return known.watch;
    const [oldest] = this.#requests.keys();
    if (this.#requests.size >= maxRequests && oldest !== undefined) this.#requests.delete(oldest);
    const watch = new RequestWatch(state);
    this.#requests.set(state.requestId, { watch, state });
    return watch;
  }
}

function report(info: StageInfo, record: StageRecord | undefined, operation: string): ExplainedStage {
  const { name: stage, path, at } = info;
  const place = { stage, path, at: `${at.file}:${at.line}:${at.column}` };
  if (!record) return { ...place, ...nothing, reason: absence(info, operation) };
  const { result, reason, ms, request, state, error, caught } = record;
  return {
    ...place,
    result,
    ...(reason && { reason }),
    ms,
    request,
    state,
    ...eventsOf(record.events),
    interceptions: record.interceptionReports,
    ...(error && { error }),
    ...(caught && { caught }),
  };
}

const nothing = {
  result: 'skipped',
  ms: 0,
  request: { changes: [] },
  state: [],
  interceptions: [],
} as const;

function absence({ enabled, operations }: StageInfo, operation: string): SkipReason {
  if (!enabled) return { kind: 'disabled' };
  const isMeant = operations.some((one) => one === operation);
  return isMeant || operation === '' ? { kind: 'not-reached' } : { kind: 'operation', operation };
}
