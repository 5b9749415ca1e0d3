import type { Position } from '../../config/config.js';
import type { Path } from '../../config/document.js';
import type { DryRequest } from '../dry-run/outcome.js';
import type { DrySettings } from '../dry-run/settings.js';
import type { Check } from './mismatch.js';

/** One test of a config, ready to run. */
export interface ConfigTest {
  readonly name: string;
  /** Path of the test in its file: `tests[3]`. */
  readonly path: Path;
  readonly at: Position;
  /** Position of a path in its file. */
  readonly positionOf: (path: Path) => Position;
  /** Environment of the config, over that of the process. */
  readonly env: Readonly<Record<string, string>>;
  readonly settings: DrySettings;
  readonly steps: readonly Step[];
  readonly isOnly: boolean;
  /** Named pipeline whose test it is: its requests must land there; absent: in any. */
  readonly pipeline?: string;
  /** Reason not to run it. */
  readonly skip?: string;
}

/** Concurrent requests, and the preceding events. */
export interface Step {
  readonly path: Path;
  /** Time that passes before. */
  readonly afterMs: number;
  /** Scenarios in place of slots from here on. */
  readonly slots: Readonly<Record<string, readonly string[]>>;
  readonly requests: readonly AskedRequest[];
}

/** A request and its expectations. */
export interface AskedRequest {
  readonly path: Path;
  readonly send: DryRequest;
  readonly check: Check;
  /** The test has expectations about connections; without them a plugin's attempt to connect fails it. */
  readonly expectsConnections: boolean;
  /** Slots with an expected state, each with its place. */
  readonly slots: readonly NamedSlot[];
  /** Pipelines that it is expected to pass. */
  readonly pipelines: readonly NamedPipeline[];
  /** Places where a missing value is to be recorded. */
  readonly snapshots: readonly SnapshotPlace[];
}

export interface NamedSlot {
  /** Its id, which a path in its state may follow: `team-a.state`. */
  readonly path: string;
  readonly at: Path;
}

export interface NamedPipeline {
  readonly name: string;
  /** Path in the file of the place that names it. */
  readonly at: Path;
}

/** Place of an `expect: snapshot`, or of such a key in it. */
export interface SnapshotPlace {
  readonly at: Path;
  /** Key of the outcome; undefined: all of it. */
  readonly key?: string;
}
