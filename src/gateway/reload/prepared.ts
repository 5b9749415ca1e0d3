import type { ConfigDiff } from '../../config/diff/config-diff.js';
import type { ReloadResult } from '../options.js';
import type { Runtime } from '../runtime.js';

/**
 * New config, built beside the old one and ready to replace it. The next reload waits until this one is taken, held or
 * discarded.
 */
export interface Prepared {
  /** Changes against the config in force. */
  readonly changes: ConfigDiff;
  readonly runtime: Runtime;
  /** Swaps in the config; keeps the old one if it throws. */
  take(): Promise<ReloadResult>;
  /**
   * Keeps its runtime beside the one in force, instead of an earlier candidate. `onEnd` is called when it is taken or
   * discarded.
   */
  hold(onEnd: (end: CandidateEnd) => void): Promise<Candidate>;
  leave(): Promise<void>;
}

/** Reason why a candidate has ended; `replaced`: another reload came first. */
export type CandidateEnd = 'committed' | 'cancelled' | 'given_up' | 'replaced';

/** New config with its runtime, beside the config in force. */
export interface Candidate {
  readonly runtime: Runtime;
  /** Changes against the config in force. */
  readonly changes: ConfigDiff;
  readonly onEnd: (end: CandidateEnd) => void;
}
