import type Koa from 'koa';
import type { Caller } from './caller.js';
import type { EventStream } from '../events/stream/event-stream.js';
import type { Logger } from './telemetry.js';
import type { MessagesRequest, TextBlock, Tool } from './messages.js';
import type { AddedMarkers, TokenCount, Windows } from './slot/slot.js';
import type { SlotPicker } from './slot/slots.js';
import type { StagePlace, Trace } from './trace.js';
import type { TransformFactory } from '../events/stream/stream-step.js';

/** System blocks and tools added by the gateway itself; usage-mask subtracts them from the usage. */
export interface Additions {
  readonly system: readonly TextBlock[];
  readonly tools: readonly Tool[];
  /** Cache markers of the request that the gateway has added, or given a ttl; absent: none. */
  readonly markers?: AddedMarkers | undefined;
  /** True if the gateway has set the request's `max_tokens`; absent: the caller has. */
  readonly limit?: true | undefined;
}

/** Committed reply of a model: its first content event has arrived. */
export interface ModelReply {
  readonly status: number;
  /** The upstream's answer headers, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Catalog id of the model that answered, or its name if the catalog has none; `''` for a text of a stage. */
  readonly model: string;
  /** Name of that model at the slot that answered; absent: that of the catalog. */
  readonly upstreamModel?: string;
  /** Id of the slot that answered; absent for an answer without a call. */
  readonly slot?: string;
  /** Number of upstream calls made; 0 for an answer without a call. */
  readonly attempts: number;
  readonly events: EventStream;
  /**
   * Number of calls joined so far into the answer of a choice, if an interceptor joins several; absent: one.
   */
  readonly calls?: (choice: number) => number;
  /** Tools of the gateway that the upstream was not sent; absent: none. */
  readonly leftOut?: readonly Tool[] | undefined;
  /** Tokens of the gateway's additions in the input of one call, if its upstream estimates them. */
  readonly addedTokens?: number | undefined;
}

export interface CallOptions {
  /** Upstream calls left, attempts in other slots included; each takes one. The first attempt is always made. */
  readonly budget?: CallBudget | readonly CallBudget[] | undefined;
  /**
   * Makes a transform of the answer before the commit point: a fresh one for each attempt, discarded with a failed one.
   * Once it is over (`isOver`), the answer is committed and the upstream call ends.
   */
  readonly through?: TransformFactory | readonly TransformFactory[] | undefined;
}

interface CallBudget {
  left: number;
}

export type ModelCall = (request: MessagesRequest, options?: CallOptions) => Promise<ModelReply>;

/**
 * Wraps the call of the model: asks again, asks another model, or answers without a call. `call` makes the call, in its
 * own slot each time; a failure that another slot has repaired is not reported.
 */
export type Intercept<Context = StageContext<never, never>> = (
  request: MessagesRequest,
  call: ModelCall,
  ctx: Context,
) => Promise<ModelReply>;

/** Interceptor of one stage, as the requests that pass it list it. */
export interface Interceptor {
  readonly place: StagePlace;
  readonly intercept: Intercept;
  /** False for a request whose call it leaves unchanged; absent: it wraps all. */
  readonly applies?: ((ctx: StageContext<never, never>) => boolean) | undefined;
}

/**
 * Outcome of a request, once its response has closed. `abandoned`: the caller disconnected before the end.
 */
export type Outcome = 'completed' | 'failed' | 'abandoned';

/** The answer to a count_tokens request; `windows` instead of a number for OAuth accounts. */
export interface Count extends TokenCount {
  readonly slot: string;
  readonly windows: Windows | undefined;
}

/** State of one request. Plugins add keys of their own by declaration merging. */
export interface GatewayState {
  /** Set by the core, as all keys down to `trace`. */
  readonly requestId: string;
  readonly operation: Operation;
  /** Name of the caller's format, known from the path. */
  readonly format: string;
  /** Aborts when the response has closed, for any reason. */
  readonly signal: AbortSignal;
  /** Child logger with the request id. */
  readonly log: Logger;
  /** Stages that wrap the call, top to bottom: filled as the request passes them, applied by `wrapCall`. */
  readonly interceptors: readonly Interceptor[];
  additions: Additions;
  /**
   * Calls `listener` exactly once, when the response has closed. The ledger gets the request's row after the
   * promises that listeners return, or some seconds.
   */
  readonly onSettled: (listener: (outcome: Outcome) => void | Promise<void>) => void;
  readonly trace: Trace;

  /** By the core: the model that the path names, instead of that of the body; absent: none. */
  pathModel: string;
  /** By auth. */
  caller: Caller;
  /** By body-limit: the parsed JSON body. */
  body: unknown;
  /** By format-decode, changed by the stages after it. */
  request: MessagesRequest;
  /** By format-decode: `stream: false` or `x-gw-delivery: verified` means whole. */
  delivery: 'stream' | 'whole';
  /** By rate-limit: true if a budget counts the cost, so that only slots with a known price may answer. */
  budgeted: boolean;
  /** By format-decode: number of answers that the request asks for, each by a call of its own: `n`, and several prompts. */
  answers: number;
  /** By rate-limit: true if a token count is estimated, without a call. */
  estimatesCount: boolean;
  /** By slot-pick. */
  picker: SlotPicker;
  /** By upstream-call, changed by usage-mask. */
  reply: ModelReply;
  /** By upstream-call, for count-tokens. */
  count: Count;
  /** By format-encode: `ctx.body` is set. */
  response: true;
}

export type StateKey = keyof GatewayState;

/** Keys present from the start of every request. */
export const coreKeys = [
  'requestId',
  'operation',
  'format',
  'signal',
  'log',
  'interceptors',
  'additions',
  'onSettled',
  'trace',
] as const satisfies readonly StateKey[];

export type CoreKey = (typeof coreKeys)[number];

/**
 * `ctx.state` of a stage: required keys can be read, provided keys can be set, those that it `reads` may be
 * undefined; any other key is a type error.
 */
export type StageState<
  Requires extends StateKey,
  Provides extends StateKey,
  Reads extends StateKey = never,
> = {
  readonly [Key in Requires | CoreKey]: GatewayState[Key];
} & { [Key in Provides]: GatewayState[Key] } & { readonly [Key in Reads]?: GatewayState[Key] };

export type StageContext<
  Requires extends StateKey,
  Provides extends StateKey,
  Reads extends StateKey = never,
> = Koa.ParameterizedContext<
  StageState<Requires, Provides, Reads>,
  // No further context: Koa's default one has an index signature that would make every typo an `any`.
  object
>;

/**
 * Purpose of a request. `route`: a format's own path, behind auth; `other`: a known path with an unsupported method,
 * which only plain Koa middleware stages see.
 */
export type Operation = 'generate' | 'count-tokens' | 'models' | 'usage' | 'route' | 'other';
