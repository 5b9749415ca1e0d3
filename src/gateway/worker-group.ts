import type { Measurement } from '../telemetry/metrics.js';

/** Group of processes that serve one address, as seen by one of them. */
export interface WorkerGroup {
  /** Name of this process in the group; its replacement gets the same name. */
  readonly name: string;
  /**
   * Reloads the config in all processes, or in none. Returns the settings that need a restart; throws
   * ConfigError.
   */
  reload(): Promise<readonly string[]>;
  /** Measurements of each process, including this one, and totals of exited processes. */
  measurements(): Promise<readonly (readonly Measurement[])[]>;
}
