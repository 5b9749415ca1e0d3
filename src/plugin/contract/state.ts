import type { WireFormat, Operation } from './operation.js';
import type { CallSignal } from '../http/call-signal.js';
import type { ModelEvents } from '../events/events.js';
import type { GatewayError } from '../error.js';
import type { Logger } from './logger.js';
import type { KeyLimits } from './key-limits.js';
import type { MessagesRequest, TextBlock, Tool, Usage } from './messages.js';
import type { TokenCount, Windows } from './slot.js';
import type { SlotLease } from './slots.js';

/** Caller of the gateway. */
export interface Caller {
  readonly kind: 'master' | 'key';
  /** `master`, or the id of the protocol key. */
  readonly keyId: string;
  readonly name: string;
  /** Catalog ids or globs that the key may use; absent: all. */
  readonly models?: readonly string[];
  /** Limits of the key itself; absent if it has none. */
  readonly limits?: KeyLimits;
}

/** System blocks and tools added by the gateway itself; usage-mask subtracts them from the usage. */
export interface Additions {
  readonly system: readonly TextBlock[];
  readonly tools: readonly Tool[];
}

/** Committed reply of an upstream: its first content event has arrived. */
export interface ModelReply {
  readonly status: number;
  /** The upstream's answer headers, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Id of the slot that answered. */
  readonly slot: string;
  /** Number of upstream calls made. */
  readonly attempts: number;
  readonly events: ModelEvents;
  /**
   * Number of calls joined so far into the answer of a choice, if an interceptor joins several; absent: one.
   */
  readonly calls?: (choice: number) => number;
}

export type ModelCall = (request: MessagesRequest) => Promise<ModelReply>;

/** Wraps the model call: tool loops, caches, fan-out. The first one pushed is the outermost. */
export type Interceptor = (call: ModelCall) => ModelCall;

/**
 * Outcome of a request, once its response has closed. `abandoned`: the caller disconnected before the end.
 */
export type Outcome = 'completed' | 'failed' | 'abandoned';

/** Tokens of one request so far: as billed by the upstream, and the part of them hidden from the caller. */
export interface UsageTally {
  billed: Usage;
  masked: Usage;
}

/** The answer to a count_tokens request; `windows` instead of a number for OAuth accounts. */
export interface Count extends TokenCount {
  readonly slot: string;
  readonly windows: Windows | undefined;
}

/** Timeline of a request, in milliseconds. */
export interface Timeline {
  /**
   * Stages reached, top to bottom, each with its own time: before it called `next` and after that returned,
   * without the stages below it. Streaming afterwards counts for none of them.
   */
  readonly stages: { readonly stage: string; ms: number }[];
  /** Upstream calls, each added as it begins. */
  readonly calls: TimedCall[];
}

/** Upstream call: time to its first event or failure (0 until then), and the error code of the failure. */
export interface TimedCall {
  readonly slot: string;
  readonly ms: number;
  readonly code?: string;
}

/** State of one request. Plugins add keys of their own by declaration merging. */
export interface GatewayState {
  /** Set by the core, as all keys down to `timeline`. */
  readonly requestId: string;
  readonly operation: Operation;
  /** The caller's dialect, known from the path. */
  readonly format: WireFormat;
  /** Aborts when the response has closed, for any reason. */
  readonly signal: AbortSignal;
  /** Cheaper form of `signal`: an AbortSignal is only made when `signal` is read. */
  readonly callSignal: CallSignal;
  /** Child logger with the request id. */
  readonly log: Logger;
  readonly interceptors: Interceptor[];
  additions: Additions;
  /** Calls `listener` exactly once, when the response has closed. */
  readonly onSettled: (listener: (outcome: Outcome) => void) => void;
  readonly usage: UsageTally;
  /** Error of an answer that broke after it had begun; the outcome is then `failed`. */
  failure: GatewayError | undefined;
  /** By upstream-call: time of the first event of the answer, unix milliseconds. */
  firstEventAtMs: number | undefined;
  /** Timeline; stages by the pipeline, calls by upstream-call. */
  readonly timeline: Timeline;

  /** By auth. */
  caller: Caller;
  /** By body-limit: the parsed JSON body. */
  body: unknown;
  /** By format-decode, changed by the stages after it. */
  request: MessagesRequest;
  /** By format-decode: `stream: false` or `x-gw-delivery: verified` means whole. */
  delivery: 'stream' | 'whole';
  /** By slot-pick. */
  lease: SlotLease;
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
  'callSignal',
  'log',
  'interceptors',
  'additions',
  'onSettled',
  'usage',
  'failure',
  'firstEventAtMs',
  'timeline',
] as const satisfies readonly StateKey[];

export type CoreKey = (typeof coreKeys)[number];
