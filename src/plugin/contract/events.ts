import type { LedgerTokens } from './ledger.js';
import type { CoolReason, SlotState } from './slot/slot.js';

/** Events of a gateway, as its stages hear them. */
export interface PluginEvents {
  /**
   * Calls `listener` with each event of this name, one at a time, never while a request waits for it. Returns the
   * function that ends the subscription, which otherwise ends with the pipeline.
   */
  on<Name extends PluginEventName>(name: Name, listener: PluginEventListener<Name>): () => void;
}

export type PluginEventName = keyof PluginEventMap;

export type PluginEventListener<Name extends PluginEventName> = (
  event: PluginEventMap[Name],
) => void | Promise<void>;

/** Events by their names. */
export interface PluginEventMap {
  'slot.state': SlotStateEvent;
  reload: ReloadEvent;
  'request.settled': SettledRequest;
}

/** Changed state of a slot. */
export interface SlotStateEvent {
  readonly slot: string;
  readonly state: SlotState;
  /** Null for a slot that is new. */
  readonly before: SlotState | null;
  /** Reason and end (unix milliseconds) of a cooldown. */
  readonly reason: CoolReason | null;
  readonly untilMs: number | null;
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Reload of the config in this process: taken, or refused with the old config left in force. */
export interface ReloadEvent {
  readonly outcome: 'taken' | 'refused';
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Model request whose response has closed, as in its ledger row. */
export interface SettledRequest {
  /** Id of the row. */
  readonly id: string;
  readonly requestId: string;
  /** Arrival, unix milliseconds. */
  readonly atMs: number;
  readonly keyId?: string;
  readonly team?: string;
  /** Pseudonym of the session. */
  readonly session?: string;
  readonly slot?: string;
  /** Model that answered; without an answer the requested one. */
  readonly model?: string;
  /** Absent if it is the same as `model`. */
  readonly askedModel?: string;
  readonly format: string;
  /** Of a call by a stage: the request that it was made for, as `atMs` and `id` of its event (`1767225600000.0197…`). */
  readonly parent?: string;
  /** Purpose of a call by a stage; absent: a request of a caller. */
  readonly label?: string;
  readonly status: number;
  /** Code of the error. */
  readonly code?: string;
  readonly failed: boolean;
  readonly streamed: boolean;
  /** Number of upstream calls. */
  readonly attempts: number;
  readonly durationMs: number;
  readonly firstTokenMs?: number;
  readonly billed: LedgerTokens;
  readonly shown: LedgerTokens;
  /** Nano-USD; absent: unknown. */
  readonly cost?: { readonly billed: number; readonly shown: number };
  readonly tags?: Readonly<Record<string, string>>;
}
