import type { DifferenceGroup } from './groups.js';

/** Result of a replay: without texts, unless its groups have them. */
export interface ReplayReport {
  /** Config files. */
  readonly old: string;
  readonly new: string;
  /** Requests that both configs have handled. */
  readonly requests: number;
  /** Requests with a difference. */
  readonly different: number;
  readonly groups: readonly DifferenceGroup[];
  /** Number of differences beyond the groups. */
  readonly ungrouped: number;
  readonly skipped: readonly SkippedFile[];
  /** Older recordings above the limit. */
  readonly leftOut: number;
  /** Times of the first and the last recording, unix milliseconds. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly durationMs: number;
}

/** Recording that could not be replayed. */
export interface SkippedFile {
  readonly file: string;
  readonly reason: string;
}
