import type { Config } from '../config/config.js';
import type { Live, Logger } from '../plugin/internal.js';
import type { SecretKey } from '../store/index.js';
import type { Measurement } from '../telemetry/metrics.js';

export interface GatewayOptions {
  readonly log: Logger;
  /** Master key; empty: there is none, and `/admin/*` cannot be used. */
  readonly masterKey: string;
  /**
   * Key for encrypted credentials in the store (`GW_SECRET_KEY`), read when there is a credential. Without
   * it no credentials can be stored.
   */
  readonly secretKey?: SecretKey;
  /** Password of the console (`GW_PANEL_PASSWORD`); default: the master key. */
  readonly panelPassword?: string;
  /**
   * State shared with other gateways, over a connection that this gateway closes; default: from `live:` in
   * the config.
   */
  readonly live?: Live;
  /** Reads the config again, for `reload()`. Throws ConfigError. */
  readonly loadConfig: () => Promise<Config>;
  /** True for a check of the config: plugins are set up and not started. */
  readonly isCheck?: boolean;
  /** Stages may use only the state keys that they have declared, and give them their shapes (`GW_STRICT=1`). */
  readonly isStrict?: boolean;
  /** Time limit for a plugin to load, to set up, to start and to dispose; default 10 s. */
  readonly pluginTimeoutMs?: number;
  /** Group of processes on the same address; `reload` and `metricsText` cover all of them. */
  readonly workerGroup?: WorkerGroup;
  /** Start time of the service, unix milliseconds; default: now. */
  readonly startedMs?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/**
 * New config, built beside the old one and ready to replace it. The next reload waits until this one is
 * taken or left.
 */
export interface Prepared {
  /** Swaps in the config; returns the settings that need a restart. If it throws, the old config stays. */
  take(): Promise<readonly string[]>;
  leave(): Promise<void>;
}

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
