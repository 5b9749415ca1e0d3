import type { WireFormat, Operation } from './operation.js';
import type { CallSignal } from '../http/call-signal.js';
import type { ModelEvents } from '../events/events.js';
import type { GatewayError } from '../error.js';
import type { Logger } from './logger.js';
import type { KeyLimits } from './key-limits.js';
import type { MessagesRequest, TextBlock, Tool, Usage } from './messages.js';
import type { TokenCount, Windows } from './slot.js';
import type { SlotLease } from './slots.js';

/** Who asks us. */
export interface Caller {
  readonly kind: 'master' | 'key';
  /** `master`, or the id of the protocol key. */
  readonly keyId: string;
  readonly name: string;
  /** Catalog ids or globs that the key may use; absent: all. */
  readonly models?: readonly string[];
  /** What the key itself says of what it may use; absent: nothing. */
  readonly limits?: KeyLimits;
}

/** What the gateway itself put into the request, so that usage-mask can take it out of the bill. */
export interface Additions {
  readonly system: readonly TextBlock[];
  readonly tools: readonly Tool[];
}

/** An upstream's answer, committed: its first content event is there. */
export interface ModelReply {
  readonly status: number;
  /** The upstream's answer headers, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Id of the slot that answered. */
  readonly slot: string;
  /** How many upstream calls it took. */
  readonly attempts: number;
  readonly events: ModelEvents;
  /** Where an interceptor joins the answers of several calls: how many a choice has come from so far. Absent: one. */
  readonly calls?: (choice: number) => number;
}

export type ModelCall = (request: MessagesRequest) => Promise<ModelReply>;

/** Wraps the model call: tool loops, caches, fan-out. The first one pushed is the outermost. */
export type Interceptor = (call: ModelCall) => ModelCall;

/** What came of a request, once its response has closed. `abandoned`: the caller left before the end. */
export type Outcome = 'completed' | 'failed' | 'abandoned';

/** Tokens of one request so far: as the upstream billed them, and how many of those the caller is not shown. */
export interface UsageTally {
  billed: Usage;
  masked: Usage;
}

/** The answer to a count_tokens request; `windows` instead of a number for OAuth accounts. */
export interface Count extends TokenCount {
  readonly slot: string;
  readonly windows: Windows | undefined;
}

/** Where the time of a request has gone, in milliseconds. */
export interface Timeline {
  /**
   * The stages that the request has reached, top to bottom, each with its own time: until it called `next` and after that
   * came back, without what is below it. What streams afterwards is nobody's.
   */
  readonly stages: { readonly stage: string; ms: number }[];
  /** The upstream calls, each as it begins. */
  readonly calls: TimedCall[];
}

/** One upstream call: how long until its first event or its failure (0 until then), and the code of that. */
export interface TimedCall {
  readonly slot: string;
  readonly ms: number;
  readonly code?: string;
}

/** What one request carries. Plugins add keys of their own by declaration merging. */
export interface GatewayState {
  /** Seeded by the core, as all down to `usage`. */
  readonly requestId: string;
  readonly operation: Operation;
  /** The caller's dialect, known from the path. */
  readonly format: WireFormat;
  /** Aborts when the response has closed, for whatever reason. */
  readonly signal: AbortSignal;
  /** As `signal`, for whoever needs no more than a CallSignal: an AbortSignal is only made where one is asked for. */
  readonly callSignal: CallSignal;
  /** Child logger with the request id. */
  readonly log: Logger;
  readonly interceptors: Interceptor[];
  additions: Additions;
  /** Calls `listener` exactly once, when the response has closed. */
  readonly onSettled: (listener: (outcome: Outcome) => void) => void;
  readonly usage: UsageTally;
  /** Set where an answer broke after it had begun: the outcome is then `failed`. */
  failure: GatewayError | undefined;
  /** By upstream-call: when the first event of the answer came, unix milliseconds. */
  firstEventAtMs: number | undefined;
  /** Its stages are filled in by the pipeline, its calls by upstream-call. */
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

/** Present from the start of every request. */
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
