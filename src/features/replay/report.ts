import type { DifferenceGroup } from './groups.js';

/** Result of a replay: without texts, unless its groups have them. */
export interface ReplayReport {
  /** Config files. */
  readonly old: string;
  readonly new: string;
  /** Requests that both configs have had. */
  readonly requests: number;
  /** Requests with a difference. */
  readonly different: number;
  readonly groups: readonly DifferenceGroup[];
  /** Differences that are in no group, because there are too many kinds of them. */
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
