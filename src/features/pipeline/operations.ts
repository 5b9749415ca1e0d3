import type { ConfigDiff } from '../../config/diff/config-diff.js';
import type { DiagnosisStep } from '../../plugin/upstream/index.js';
import type { SlotStatus } from '../../plugin/core.js';
import type { LedgerRow } from '../../state/ledger/contract.js';
import type { CanaryReport } from '../canary/canary-report.js';
import type { ExplainCall } from '../explain/explain-call.js';

/** Operator actions on a running gateway. Methods with a slot's id may assume that the slot exists. */
export interface Operations {
  listSlots(): readonly SlotStatus[];
  pause(id: string): void;
  resume(id: string): void;
  drain(id: string): void;
  diagnose(id: string, signal: AbortSignal): Promise<readonly DiagnosisStep[]>;
  /**
   * Reloads the config. If there are `problems`, one sentence each, the old config stays in force. Throws `conflict`
   * where its tests fail, which `skipsTests` leaves out.
   */
  reload(options?: { readonly skipsTests: boolean }): Promise<Reload>;
  /** Starts a canary, as `reload`, for this percentage of new sessions. Throws `conflict`. */
  startCanary(percent: number, options?: { readonly skipsTests: boolean }): Promise<Preview>;
  /** Takes the canary's config wholly. Throws `conflict` where none runs. */
  commitCanary(): Promise<Reload>;
  /** Ends the canary. Throws `conflict` where none runs. */
  cancelCanary(): Promise<void>;
  /** The canary that runs, or else the last one. */
  canary(): Promise<CanaryReport | undefined>;
  /** Says what a reload would change now, or why it would be refused; changes nothing. */
  previewReload(): Promise<Preview>;
  /**
   * Says how the gateway would handle a request now: an `Explanation`. `read` is called once there is a place for
   * one more; `withoutTexts` leaves out all texts of the request, the answer and the config. Throws what `read`
   * throws, and as `Explanations.explain` does.
   */
  explain(
    read: () => ExplainCall | Promise<ExplainCall>,
    options?: { readonly withoutTexts: boolean },
  ): Promise<object>;
  /** Row of a request that was made, by the id of its report or by its request id. */
  recordedRequest(id: string): Promise<LedgerRow | undefined>;
  /** The stages in force, with the secrets in their options. */
  describePipeline(): readonly object[];
  /** Sentences of the stages in force that operators should know. */
  readonly notices: readonly string[];
  /** The config as written in its file; may hold secrets. */
  readonly writtenConfig: unknown;
}

/** Preview of a reload; without changes if there are problems, which are one sentence each. */
export interface Preview {
  readonly problems: readonly string[];
  readonly changes: ConfigDiff;
}

export interface Reload extends Preview {
  /** Changed settings that take effect only after a restart. */
  readonly needsRestart: readonly string[];
}
