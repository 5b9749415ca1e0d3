import type { Config } from '../config/config.js';
import type { ConfigDiff } from '../config/diff/config-diff.js';
import { GatewayError, type Clock, type Logger } from '../plugin/index.js';
import type { Live } from '../plugin/core.js';
import type { OpenHttpClient } from '../engine/transport/http-client.js';
import type { WithinCall } from '../engine/pipeline/call/open-calls.js';
import type { PipelineWatch } from '../engine/pipeline/run/watch.js';
import type { OnChoice } from '../engine/slots/selection/observed-choice.js';
import type { SecretKey } from '../state/store/index.js';
import type { Measurement } from './telemetry/metrics.js';

export interface GatewayOptions {
  readonly log: Logger;
  /** Master key; empty: there is none, and `/admin/*` cannot be used. */
  readonly masterKey: string;
  /**
   * Key for encrypted credentials in the store (`GW_SECRET_KEY`), read on first use; without it no credentials can be
   * stored. A text is a configured key, with which stages may seal too.
   */
  readonly secretKey?: SecretKey;
  /** Former key, which still opens its sealed data (`GW_SECRET_KEY_OLD`) during a rotation. */
  readonly oldSecretKey?: string | undefined;
  /** Password of the console (`GW_PANEL_PASSWORD`); default: the master key. */
  readonly panelPassword?: string;
  /**
   * State shared with other gateways, over a connection that this gateway closes; default: from `live:` in
   * the config.
   */
  readonly live?: Live;
  /** Reads the config again, for `reload()`. Throws ConfigError. */
  readonly loadConfig: () => Promise<Config>;
  /** Reads the current config, for a preview of a reload; default: `loadConfig`. Throws ConfigError. */
  readonly readConfig?: () => Promise<Config>;
  /** Runs the tests of the current config, before a reload; absent if it has none. */
  readonly testConfig?: (signal: AbortSignal) => Promise<TestVerdict>;
  /** True for a check of the config: plugins are set up and not started. */
  readonly isCheck?: boolean;
  /**
   * True if stages may use only the state keys that they have declared, and give them their shapes (`GW_STRICT=1`).
   */
  readonly isStrict?: boolean;
  /** Time limit for a plugin to load, to set up, to start and to dispose; default 10 s. */
  readonly pluginTimeoutMs?: number;
  /** Group of processes on the same address; `reload` and `metricsText` cover all of them. */
  readonly workerGroup?: WorkerGroup;
  /** Start time of the service, unix milliseconds; default: now. */
  readonly startedMs?: number;
  /** Time and timers; default: those of the machine. */
  readonly clock?: Clock;
  /** Settings of a dry run, which connects to nothing. */
  readonly dry?: DryParts;
}

/** Result of the tests of a config. */
export interface TestVerdict {
  readonly passed: number;
  /** Empty if no test has failed. */
  readonly failures: readonly FailedTest[];
}

/** Failure of a test, or a reason why the tests could not be run. */
export interface FailedTest {
  /** Sentence with file and line. */
  readonly message: string;
  /** Name of the test; absent: it is a failure of no single test. */
  readonly test?: string;
  /** Named pipeline whose test it is; absent: it is one of the config. */
  readonly pipeline?: string;
}

/** Log line of a reload whose tests fail. */
export const failedTests = 'The tests of the new config fail; the old one stays in force.';

/** Refusal of a reload whose tests fail, with the failures and further `details`. */
export function refusedByTests(failures: readonly FailedTest[], details: object = {}): GatewayError {
  const message = [failedTests, ...failures.map((failure) => failure.message)].join('\n');
  return new GatewayError('conflict', message, { details: { failures, ...details } });
}

/** Parts of a dry run in place of the real environment. */
export interface DryParts {
  /** Opens clients whose connections stay in this process. */
  readonly openClient: OpenHttpClient;
  readonly watch?: PipelineWatch | undefined;
  readonly onChoice?: OnChoice | undefined;
  /** Runs the work of each call of a stage. */
  readonly withinCall?: WithinCall | undefined;
}

/** Options of a reload. */
export interface ReloadOptions {
  /** True: the tests of the config are not run. */
  readonly skipsTests?: boolean;
}

/** Result of a reload whose config is in force. */
export interface ReloadResult {
  /** Sections whose settings have changed since the start and take effect at the next one. */
  readonly needsRestart: readonly string[];
  /** Changes against the config before it. */
  readonly changes: ConfigDiff;
}

/** Group of processes that serve one address, as seen by one of them. */
export interface WorkerGroup {
  /** Name of this process in the group; its replacement gets the same name. */
  readonly name: string;
  /** Reloads the config in all processes, or in none. Throws ConfigError. */
  reload(): Promise<ReloadResult>;
  /** Starts a canary in all processes, or in none. Throws ConfigError and `conflict`. */
  startCanary(percent: number): Promise<ConfigDiff>;
  /** Applies the canary's config in all processes. Throws `conflict` if there is none. */
  commitCanary(): Promise<ReloadResult>;
  /** Ends the canary in all processes. Throws `conflict` if there is none. */
  cancelCanary(): Promise<void>;
  /** Measurements of each process, including this one, and totals of exited processes. */
  measurements(): Promise<readonly (readonly Measurement[])[]>;
}
