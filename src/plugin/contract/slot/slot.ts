import type { CallSignal } from '../../../kit/call-signal.js';
import type { EventStream } from '../../events/stream/event-stream.js';
import type { GatewayError } from '../error.js';
import type { ReportLosses } from '../loss.js';
import type { CacheControl, MessagesRequest, TextBlock, Tool } from '../messages.js';
import type { ModelProfile } from '../models.js';

export type SlotState = 'ready' | 'cooling' | 'rejected' | 'paused' | 'draining';
export type CoolReason = 'rate_limited' | 'overloaded' | 'unreachable' | 'window_exhausted';

/** One usage window as the upstream last reported it. */
export interface Window {
  /** 0 to 100, two decimals. */
  readonly percentUsed: number;
  /** Unix time in milliseconds. */
  readonly resetsAtMs: number;
}

/** Usage windows; null if never reported. */
export interface Windows {
  readonly '5h': Window | null;
  readonly '7d': Window | null;
}

/** Progress of a call at its upstream: its request is on the wire; then the status of the answer, below 400 or not. */
export type CallProgress = 'sent' | 'accepted' | 'refused';

/** One call to an upstream, as a slot takes it. */
export interface SlotCall {
  /** Outgoing request: `model` is the upstream's name for it, `stream` is true (absent for a token count). */
  readonly request: MessagesRequest;
  /** The caller's headers that may go upstream, lower case; the slot adds its own and the credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** The query string with its `?`, or empty. */
  readonly search: string;
  readonly signal: CallSignal;
  readonly headersTimeoutMs: number;
  /** Idle timeout: max silence within the answer. */
  readonly idleTimeoutMs: number;
  /** False until the first content, which has a separate limit, so that the idle timeout does not apply before. */
  readonly hasContent?: (() => boolean) | undefined;
  /** Tools in `request` that the gateway itself has added, which the caller does not miss. */
  readonly addedTools?: readonly Tool[] | undefined;
  /** System texts in `request` that the gateway itself has added. */
  readonly addedSystem?: readonly TextBlock[] | undefined;
  /** Cache markers in `request` that the gateway itself has added, or given a ttl. */
  readonly addedMarkers?: AddedMarkers | undefined;
  /** True if the gateway itself has set the request's `max_tokens`. */
  readonly addedLimit?: boolean | undefined;
  /**
   * False: the answer is passed on as it arrives; another call can no longer repair a fault after its first content.
   */
  readonly isWhole?: boolean;
  /**
   * True if the caller's format is not Messages: the upstream kind narrows the parts that its receiver would refuse.
   */
  readonly isTranslated?: boolean;
  /** Limits and capabilities of the request's model, `sampling` included. */
  readonly profile?: ModelProfile | undefined;
  /** Handling of losses that `format-decode` names: reported, or refused with 400. */
  readonly unsupported?: 'report' | 'reject';
  /**
   * Parts of the request that the upstream has refused, and that are left out: names of its kind (`web_search`), with
   * any replacement of the refused value (`effort=high`). Set again for each lease.
   */
  readonly without?: ReadonlySet<string> | undefined;
  /** Sticky key of the session, which no other caller shares. Absent without a session. */
  readonly stickyKey?: string | undefined;
  /** Absent: all thinking of the request is of this slot, as far as is known. */
  readonly moved?: SessionMove | undefined;
  /** Called before the request is sent. Absent without an observer. */
  readonly report?: ReportLosses | undefined;
  /** Receiver of the call's progress, for billing a call that its caller abandons. */
  readonly progress?: ProgressReceiver | undefined;
}

export interface ProgressReceiver {
  reach(progress: CallProgress): void;
}

/**
 * Turns of a request, from the first, whose signed thinking may have come from another account, since the session was
 * moved: numbers of messages, without a tool loop in which thinking has to stay.
 */
export interface SessionMove {
  /** Messages from before the last move to another organization, which refuses thinking that is not its own. */
  readonly foreign: number;
  /** Messages whose thinking can be left out if the account refuses it; `foreign` at least. */
  readonly doubtful: number;
}

/** Cache markers that stages have added, or given a ttl. */
export type AddedMarkers = ReadonlyMap<CacheControl, 'marker' | 'ttl'>;

/** Part of a call that its upstream has refused, and that another call can omit. */
export interface RefusedPart {
  /** Entry of `SlotCall.without`, one of a bounded set for each kind: `web_search`, `effort=low,high`. */
  readonly without: string;
  /** True: every call of the model would be refused; false: a value of this request is at fault. */
  readonly isOfModel: boolean;
  /**
   * True: later calls of the session would be refused in that slot, since its earlier turns are of another account.
   */
  readonly isOfSession?: boolean;
  /** True if the caller has requested the part, whose omission is then reported. */
  readonly isAsked: boolean;
}

export interface UpstreamReply {
  readonly status: number;
  /** Lower case; several of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly events: EventStream;
  /**
   * Paths of the request that this upstream cannot express, for a kind that does not call `report`: they reach the
   * caller in `x-gw-dropped`.
   */
  readonly dropped?: readonly string[] | undefined;
  /** Tools of `addedTools` that the upstream was not sent, since it cannot express them. */
  readonly leftOut?: readonly Tool[] | undefined;
  /** Tokens of the gateway's additions in the answer's input, if the upstream estimates it; absent if unknown. */
  readonly addedTokens?: number | undefined;
}

/** A token count; `estimated` if the upstream has no such endpoint. */
export interface TokenCount {
  readonly inputTokens: number;
  readonly estimated: boolean;
}

/** Slot: one upstream account. Calls throw a `GatewayError` whose `failure` describes the problem. */
export interface Slot {
  readonly id: string;
  /** Kind of the account, as the config names it. */
  readonly accountKind: string;
  /** True if the upstream reports usage windows of the account. */
  readonly reportsWindows: boolean;
  readonly windows: Windows;
  generate(call: SlotCall): Promise<UpstreamReply>;
  countTokens(call: SlotCall): Promise<TokenCount>;
  /** Replaces the secrets of the slot in a text. Absent: it has none. */
  readonly hide?: ((text: string) => string) | undefined;
  /** Part of a refused call that another call can omit; undefined if there is none. Absent: there never is one. */
  readonly refused?: ((error: GatewayError, call: SlotCall) => RefusedPart | undefined) | undefined;
}

/** Cause of a cooldown, of a rejection or of an error; without credentials. */
export interface SlotFailure {
  /** HTTP status of the upstream's answer; null if there was none. */
  readonly status: number | null;
  readonly code: string;
  readonly message: string;
  /** Header that gave the end of the cooldown, with its value. */
  readonly header: string | null;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Status of a slot, as shown by `/admin/slots`. */
export interface SlotStatus {
  readonly id: string;
  readonly upstream: string;
  readonly accountKind: string;
  readonly state: SlotState;
  readonly reason: CoolReason | null;
  /** End of the cooldown, unix milliseconds. */
  readonly untilMs: number | null;
  /** Time from which one request at a time probes a cooling slot. */
  readonly checkAtMs: number | null;
  /** Cause of the cooldown or rejection. */
  readonly cause: SlotFailure | null;
  /** Cooldowns of single upstream models. */
  readonly models: readonly {
    readonly model: string;
    readonly reason: CoolReason;
    readonly untilMs: number;
    readonly checkAtMs: number;
    readonly cause: SlotFailure | null;
  }[];
  readonly inFlight: number;
  readonly queued: number;
  readonly maxConcurrent: number;
  readonly weight: number;
  readonly serves: readonly string[];
  /** Upstream's own names of models, by the globs of `serves` that have one. */
  readonly upstreamModels: Readonly<Record<string, string>>;
  readonly bindings: number;
  readonly windows: Windows;
  /** Last failure since the last success, in words. */
  readonly lastError: string | null;
  /** Time of that failure, unix milliseconds. */
  readonly lastErrorAtMs: number | null;
}

/** One step of a diagnosis. */
export interface DiagnosisStep {
  readonly step: 'resolve' | 'connect' | 'request' | 'credential';
  readonly ok: boolean;
  /** True if the step could not be tried, so that `ok` proves nothing. */
  readonly skipped?: boolean;
  readonly ms: number;
  /** Result or error message. */
  readonly detail: string;
}
