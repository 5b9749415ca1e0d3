import type { Lab } from '../measure/lab.js';
import type { Pair } from '../report/pair-table.js';
import type { Bounds } from '../measure/rounds.js';
import type { TargetName } from '../targets/target.js';

/** One part of the bench: what is measured together and makes one table. */
export interface Section {
  /** As `--only` calls it. */
  readonly name: string;
  readonly title: string;
  /** Its share of the time, beside the others. */
  readonly weight: number;
  /** A quick run leaves it out, unless it is asked for by name. */
  readonly isLong?: boolean;
  /** It profiles its targets after their warm-up; those of other sections are profiled from start to end. */
  readonly profilesItself?: boolean;
  run(setting: Setting): Promise<Report>;
}

export interface Setting extends Bounds {
  readonly lab: Lab;
  readonly targets: readonly TargetName[];
  /** In place of the section's own number. */
  readonly requests: number | undefined;
  readonly isQuick: boolean;
  /** Folder for profiles; undefined: none are wanted. */
  readonly profiles: string | undefined;
}

export interface Report {
  /** Markdown. */
  readonly text: string;
  /** The same for other programs. */
  readonly rows: readonly object[];
  /** Ratios to the build of `--against`. */
  readonly pairs?: readonly Pair[];
}
