import cluster from 'node:cluster';
import { ConfigError, type Config } from '../../config/config.js';
import type { Environment } from '../../config/environment.js';
import { readConfigFile } from '../../config/load.js';
import type { ReloadCause } from '../../features/pipeline/system-reload.js';
import { otherFile } from '../../gateway/load-config.js';
import { configTests } from '../../features/config-tests.js';
import { refusedByTests, type ReloadResult } from '../../gateway/options.js';
import { lastStepsMs } from '../../gateway/shutdown.js';
import { IpcHub } from './ipc/hub.js';
import { isGatewayError, type Logger } from '../../plugin/index.js';
import type { LogFormat } from '../../gateway/telemetry/logs.js';
import { WorkerPool } from './worker-pool.js';

interface PrimaryOptions {
  readonly file: string;
  readonly env: Environment;
  /** Contents of the config file; `config` is its checked form. */
  readonly text: string;
  readonly config: Config;
  readonly log: Logger;
  readonly logLevel: string;
  readonly logFormat: LogFormat;
  readonly masterKey: string;
  readonly secretKey: () => Promise<string | undefined>;
}

/**
 * Pool of `size` workers as a server. The primary serves no requests: it accepts and distributes connections,
 * and holds the state that workers share.
 */
export function openWorkers({ config, env, ...options }: PrimaryOptions, size: number) {
  const { file, masterKey, logLevel, logFormat } = options;
  const { drainDelayMs, shutdownTimeoutMs } = config.listen;
  cluster.setupPrimary({ args: [] });
  const pool = new WorkerPool({
    ...options,
    size,
    stuckTimeoutMs: config.listen.stuckTimeoutMs,
    hub: config.live.kind === 'memory' ? new IpcHub() : undefined,
    init: { file, masterKey, logLevel, logFormat, startedMs: Date.now() },
    readText: async () => (await readConfigFile(file, env, otherFile)).text,
  });
  return {
    lost: pool.lost,
    maxShutdownMs: () => 2 * (drainDelayMs + shutdownTimeoutMs + lastStepsMs),
    close: () => pool.close(),
    end: () => pool.close(),
    kill: () => pool.kill(),
    reload: (cause: ReloadCause) =>
      recorded(pool, cause, async () => {
        const { failures } = await configTests.run(file, env);
        if (failures.length > 0) throw refusedByTests(failures);
        const { problems, ...taken } = await pool.reload();
        if (problems.length > 0) throw new ConfigError(problems);
        return taken;
      }),
    start: () =>
      pool.start().catch((error: unknown) => {
        pool.kill();
        throw error;
      }),
  };
}

/** Has a worker record a reload in the audit log: the primary has no store. */
async function recorded(
  pool: WorkerPool,
  cause: ReloadCause,
  reload: () => Promise<ReloadResult>,
): Promise<void> {
  try {
    pool.recordReload({ cause, taken: await reload() });
  } catch (error) {
    const code = error instanceof ConfigError ? 'invalid_request' : 'internal';
    pool.recordReload({ cause, code: isGatewayError(error) ? error.code : code });
    throw error;
  }
}
