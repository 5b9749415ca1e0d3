import type Koa from 'koa';
import type { Interceptor, StagePlace } from '../../../plugin/core.js';
import type { StageInfo } from './stage-info.js';

/** Parts of a stage that can be watched. */
export interface WatchedParts {
  readonly place: StagePlace;
  readonly middleware: Koa.Middleware;
  readonly interceptor?: Interceptor | undefined;
  /** True: texts that it replaces in a request must not be shown. */
  readonly conceals?: true | undefined;
}

/** Reason why a request has skipped a stage. */
export type PassedBy =
  /** Conditions of its `when` that the request does not meet, in words. */
  | { readonly kind: 'when'; readonly conditions: readonly string[] }
  /** Choice of another alternative of its entry: its name and path. */
  | { readonly kind: 'alternative'; readonly taken: string; readonly path: string };

/** Watches the requests of a pipeline built with it; other pipelines have no overhead. */
export interface PipelineWatch {
  /** Called once, when the pipelines are built, with the stages of each by its name. */
  built(pipelines: ReadonlyMap<string, readonly StageInfo[]>): void;
  /** Returns the stage with its middleware and its interceptor watched. */
  watched<Stage extends WatchedParts>(stage: Stage): Stage;
  passedBy(state: object, place: StagePlace, reason: PassedBy): void;
  /** Called when a stage has failed, and the request continues without it (`onError: skip`). */
  skipped(state: object, place: StagePlace, error: unknown): void;
}
