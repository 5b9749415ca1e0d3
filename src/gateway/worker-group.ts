import type { Measurement } from '../telemetry/metrics.js';

/** The processes that serve one address together, for one of them. */
export interface WorkerGroup {
  /** Among them, and in the next one that takes its place. */
  readonly name: string;
  /**
   * Has all of them take the config as it stands now, or none. Gives the settings that take effect only at a restart;
   * throws ConfigError.
   */
  reload(): Promise<readonly string[]>;
  /** What each of them has measured, this one included, and what those had that have gone. */
  measurements(): Promise<readonly (readonly Measurement[])[]>;
}
