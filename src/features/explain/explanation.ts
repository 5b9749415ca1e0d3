import type { DryRequest } from '../dry-run/outcome.js';
import type { PassedBy } from '../../engine/pipeline/run/watch.js';
import type { ObservedChoice } from '../../engine/slots/selection/observed-choice.js';
import type { LedgerTokens } from '../../plugin/core.js';

/** Request to explain, and its sender. */
export type ExplainRequest = Pick<DryRequest, 'method' | 'path' | 'headers' | 'body' | 'key'>;

/** Change of the Messages request at one place; values are shortened. */
export interface RequestChange {
  /** `system[0].text`; empty: the whole request. */
  readonly path: string;
  /** Absent for an addition. */
  readonly before?: unknown;
  /** Absent for a removal. */
  readonly after?: unknown;
}

/** Changes of the request, and the number of omitted ones. */
export interface RequestChanges {
  readonly changes: readonly RequestChange[];
  readonly more?: number;
}

/** Key of the state that a stage has set, changed or removed. */
export interface StateChange {
  readonly key: string;
  readonly change: 'set' | 'changed' | 'removed';
  /** Small value, or a short description; absent if it cannot be shown. */
  readonly value?: unknown;
}

/** Changes of a stage to an answer's events. */
export interface EventChanges {
  /** Number of events by type, if it differs: before and after. */
  readonly types: Readonly<Record<string, readonly [before: number, after: number]>>;
  /** Characters of text before and after. */
  readonly characters: readonly [before: number, after: number];
  readonly textChanged: boolean;
  /** Fields of the usage that differ: before and after. */
  readonly usage: Readonly<Record<string, readonly [before: number | null, after: number | null]>>;
}

/** Error as shown to callers. */
export interface ExplainedError {
  /** `internal` for an exception of a plugin. */
  readonly code: string;
  readonly message: string;
}

/** Call of the model that a stage's interceptor has made. */
export interface ExplainedCall {
  /** Changes of the interceptor to its given request. */
  readonly request: RequestChanges;
  readonly error?: ExplainedError;
}

/** Run of a stage's interceptor. */
export interface Interception {
  /** Calls that it has made; none if it answered itself. */
  readonly calls: readonly ExplainedCall[];
  /** Changes to the answer; absent: none. */
  readonly events?: EventChanges;
  readonly error?: ExplainedError;
}

/** Reason why a request has skipped a stage. */
export type SkipReason =
  | PassedBy
  | { readonly kind: 'disabled' }
  /** Reason: the stage does not handle this operation. */
  | { readonly kind: 'operation'; readonly operation: string }
  /** Reason: it failed, and the request continued without it. */
  | { readonly kind: 'error'; readonly error: ExplainedError }
  /** Reason: a stage above has ended the request. */
  | { readonly kind: 'not-reached' };

/** Way of a request through one stage. */
export interface ExplainedStage {
  readonly stage: string;
  /** `pipeline[3]`. */
  readonly path: string;
  /** Place in the config: `config/gateway.yaml:14:5`. */
  readonly at: string;
  /** `passed`: continued below it; `answered`: ended the request with an answer. */
  readonly result: 'passed' | 'answered' | 'failed' | 'skipped';
  readonly reason?: SkipReason;
  /** Own time, without that of the stages below it and of calls of the model. */
  readonly ms: number;
  readonly request: RequestChanges;
  readonly state: readonly StateChange[];
  /** Changes to the answer; absent: none. */
  readonly events?: EventChanges;
  readonly interceptions: readonly Interception[];
  readonly error?: ExplainedError;
  /** Error of a stage below that it has suppressed. */
  readonly caught?: ExplainedError;
}

/** Request as it would be sent to an upstream. */
export interface ExplainedOutgoing {
  readonly slot?: string;
  readonly method: string;
  readonly path: string;
  /** Masked if set by the account, the slot or a credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent if texts are hidden. */
  readonly body?: unknown;
}

/** Answer as the caller would get it. */
export interface ExplainedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Number of events of a streamed answer by type. */
  readonly events: Readonly<Record<string, number>>;
  readonly error?: ExplainedError;
  /** False: the answer broke off. */
  readonly complete: boolean;
  /** Absent if texts are hidden. */
  readonly answer?: unknown;
}

/** Tokens of a request, and the gateway's additions to it. */
export interface ExplainedTokens {
  readonly billed: LedgerTokens;
  readonly shown: LedgerTokens;
  /** Input tokens billed but not shown. */
  readonly added: number;
  /** Estimate of the texts that the gateway has added to the request. */
  readonly additions: { readonly system: number; readonly tools: number };
}

/** Why a pipeline was chosen: its name at the key or at the team, its conditions, or no other one. */
export type PipelineReason = 'key' | 'team' | 'when' | 'default';

/** Way of one request through the gateway. Plain JSON. */
export interface Explanation {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly key: string | null;
    readonly bytes: number;
    readonly format?: string;
    readonly model?: string;
  };
  /** The pipeline that the request was given to, and the reason. */
  readonly pipeline: { readonly name: string; readonly why: PipelineReason };
  /** All stages of that pipeline, in its order. */
  readonly stages: readonly ExplainedStage[];
  /** Choices of a slot, in order; further ones follow failures. */
  readonly choices: readonly ObservedChoice[];
  /** Upstream calls in order, with the code of those that failed. */
  readonly calls: readonly { readonly slot: string; readonly model?: string; readonly code?: string }[];
  readonly outgoing: readonly ExplainedOutgoing[];
  readonly answer: ExplainedAnswer;
  /** Fields of the request that no upstream call can express. */
  readonly dropped: readonly string[];
  readonly tokens: ExplainedTokens;
  /** Warnings that were logged. */
  readonly log: readonly string[];
}
