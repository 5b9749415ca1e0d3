import type { Config } from '../config/config.js';
import type { Live, Logger } from '../plugin/index.js';
import type { WorkerGroup } from './worker-group.js';
import type { SecretKey } from '../store/index.js';

export interface GatewayOptions {
  readonly log: Logger;
  /** Empty: there is no master key, and `/admin/*` cannot be used. */
  readonly masterKey: string;
  /** Encrypts the credentials in the store (`GW_SECRET_KEY`), asked for when there is one; without it there can be none. */
  readonly secretKey?: SecretKey;
  /** What opens the console (`GW_PANEL_PASSWORD`); default the master key. */
  readonly panelPassword?: string;
  /** What it shares with other gateways, by a connection of its own, which it closes; default: what `live:` in the config says. */
  readonly live?: Live;
  /** Reads the config again, for `reload()`. Throws ConfigError. */
  readonly loadConfig: () => Promise<Config>;
  /** Time limit for a plugin to load, to set up and to dispose; default 10 s. */
  readonly pluginTimeoutMs?: number;
  /** Other processes serve the same address: `reload` and `metricsText` are about all of them. */
  readonly siblings?: WorkerGroup;
  /** When the service has started; default: now. */
  readonly startedMs?: number;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/** A new config that runs beside the old one, and waits to take its place; the next reload waits for that. */
export interface Prepared {
  /** Gives the settings that take effect only at a restart. Where it throws, the old config goes on. */
  take(): Promise<readonly string[]>;
  leave(): Promise<void>;
}
