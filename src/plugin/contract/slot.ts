import type { CallSignal } from '../http/call-signal.js';
import type { ModelEvents } from '../events/events.js';
import type { Logger } from './logger.js';
import type { ModelProfile } from './models.js';
import type { MessagesRequest } from './messages.js';

export type SlotState = 'ready' | 'cooling' | 'rejected' | 'paused' | 'draining';
export type CoolReason = 'rate_limited' | 'overloaded' | 'unreachable' | 'window_exhausted';
export type AccountKind = 'api-key' | 'oauth' | 'none';

/** One usage window as the upstream last reported it. */
export interface Window {
  /** 0 to 100, two decimals. */
  readonly percentUsed: number;
  /** Unix time in milliseconds. */
  readonly resetsAtMs: number;
}

/** Null where never seen. */
export interface Windows {
  readonly '5h': Window | null;
  readonly '7d': Window | null;
}

/** One call to an upstream, as a slot takes it. */
export interface SlotCall {
  /** As it goes out: `model` is the upstream's name for it, `stream` is true (absent for a token count). */
  readonly request: MessagesRequest;
  /** The caller's headers that may go upstream, lower case; the slot adds its own and the credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** The query string with its `?`, or empty. */
  readonly search: string;
  readonly signal: CallSignal;
  readonly headersTimeoutMs: number;
  /** The longest silence within the answer. */
  readonly idleTimeoutMs: number;
  /** False while the first content has not come: until then the caller has a limit of its own, and no silence is too long. */
  readonly hasContent?: () => boolean;
}

export interface UpstreamReply {
  readonly status: number;
  /** Lower case; several of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly events: ModelEvents;
}

/** A token count; `estimated` where the upstream has no such endpoint. */
export interface TokenCount {
  readonly inputTokens: number;
  readonly estimated: boolean;
}

/** An upstream account in a place of its own. Calls throw a `GatewayError` whose `failure` says what happened. */
export interface Slot {
  readonly id: string;
  readonly accountKind: AccountKind;
  readonly windows: Windows;
  generate(call: SlotCall): Promise<UpstreamReply>;
  countTokens(call: SlotCall): Promise<TokenCount>;
}

/** What `/admin/slots` shows of a slot. */
export interface SlotStatus {
  readonly id: string;
  readonly upstream: string;
  readonly accountKind: AccountKind;
  readonly state: SlotState;
  readonly reason: CoolReason | null;
  /** When a cool-down ends, unix milliseconds. */
  readonly untilMs: number | null;
  /** Cool-downs that hold for one upstream model only. */
  readonly models: readonly {
    readonly model: string;
    readonly reason: CoolReason;
    readonly untilMs: number;
  }[];
  readonly inFlight: number;
  readonly queued: number;
  readonly maxConcurrent: number;
  readonly weight: number;
  readonly serves: readonly string[];
  readonly bindings: number;
  readonly windows: Windows;
  /** The last failure since the slot last worked, in words. */
  readonly lastError: string | null;
  /** The time of that failure, unix milliseconds. */
  readonly lastErrorAtMs: number | null;
}

/** One step of a diagnosis (contract §7 rule 1). */
export interface DiagnosisStep {
  readonly step: 'resolve' | 'connect' | 'request' | 'credential';
  readonly ok: boolean;
  /** True where the step could not be tried, so that `ok` proves nothing. */
  readonly skipped?: boolean;
  readonly ms: number;
  /** What was found, or what failed. */
  readonly detail: string;
}

/** What an adapter is given to open a slot's upstream. */
export interface UpstreamSettings {
  readonly id: string;
  /** Without a trailing slash; the simulator needs none. */
  readonly baseUrl?: string;
  /** The slot's own way out, `http://user:pass@host:port`. */
  readonly proxy?: string;
  /** Added to every request of the slot. */
  readonly headers: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  /** Entered in the console: it must not connect to link-local and metadata addresses. */
  readonly isGuarded?: boolean;
  readonly maxConcurrent: number;
  readonly log: Logger;
}

/** A call with the credential that it goes out with. */
export interface UpstreamCall extends SlotCall {
  readonly credential: Readonly<Record<string, string>>;
}

/** A model as an upstream lists it. */
export interface ListedModel extends ModelProfile {
  readonly id: string;
}

/** A question to an upstream that is no caller's. */
export interface UpstreamQuery {
  readonly credential: Readonly<Record<string, string>>;
  readonly signal: CallSignal;
}

/** One opened upstream: what an adapter gives a slot. */
export interface Upstream {
  generate(call: UpstreamCall): Promise<UpstreamReply>;
  countTokens(call: UpstreamCall): Promise<TokenCount>;
  /** The models that the account may use, the newest first. Absent: this kind of upstream has no list of them. */
  models?(query: UpstreamQuery): Promise<readonly ListedModel[]>;
  /**
   * Resolves the host and makes one request over the slot's own way out, then one with the credential that costs nothing;
   * stops at the first step that fails. Without a credential the last step is left out.
   */
  diagnose(signal: AbortSignal, credential: UpstreamCall['credential']): Promise<readonly DiagnosisStep[]>;
  close(): Promise<void>;
}

/** A kind of upstream: the default export of an adapter module. */
export interface UpstreamAdapter {
  readonly kind: string;
  open(settings: UpstreamSettings): Upstream | Promise<Upstream>;
}
