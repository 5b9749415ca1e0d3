import type { ConfigProblem } from '../../config/config.js';
import type { ReloadCause } from '../../features/pipeline/system-reload.js';
import type { ReloadResult } from '../../gateway/options.js';
import type { LogFormat } from '../../gateway/telemetry/logs.js';

/** Startup parameters of a worker, sent by the primary. */
export interface WorkerInit {
  /** Name of the worker; a replacement gets the name of the worker that it replaces. */
  readonly name: string;
  readonly file: string;
  /** Config file text of the config in force. The file may have changed since, and wait for a reload. */
  readonly text: string;
  /** Running canary, which the worker joins. */
  readonly canary?: PoolCanary | undefined;
  readonly masterKey: string;
  readonly logLevel: string;
  readonly logFormat: LogFormat;
  readonly startedMs: number;
  /** True if the shared state is in the primary; false if instances share it elsewhere (Redis). */
  readonly isHub: boolean;
}

/** Canary in all workers of a pool. */
export interface PoolCanary {
  /** Rising number within the pool. */
  readonly id: number;
  readonly text: string;
  readonly percent: number;
}

/** Result of a reload; if there are problems, all workers keep the old config. */
export interface Reloaded extends ReloadResult {
  readonly problems: readonly ConfigProblem[];
}

/** Result of a reload by the primary, or the error code of a rejected one. */
export type SystemReload = { readonly cause: ReloadCause } & (
  | { readonly taken: ReloadResult }
  | { readonly code: string }
);
