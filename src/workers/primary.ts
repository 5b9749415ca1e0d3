import cluster from 'node:cluster';
import { ConfigError } from '../config/config.js';
import { readConfigFile } from '../config/load.js';
import { IpcHub } from '../live/ipc/hub.js';
import { WorkerPool } from './worker-pool.js';
import { onLostErrors } from '../cli/lost-errors.js';
import { announce, lastStepsMs, otherFile, type Start } from '../cli/start.js';
import { onSignals } from '../cli/signals.js';

/**
 * Serves with `size` workers until a signal stops them. The primary serves no requests: it accepts and
 * distributes connections, holds the state that workers share, and keeps `size` workers alive.
 */
export async function serveByWorkers(start: Start, size: number): Promise<void> {
  const { file, env, text, config, log, logLevel, masterKey, secretKey } = start;
  cluster.setupPrimary({ args: [] });
  const crew = new WorkerPool({
    size,
    log,
    secretKey,
    text,
    hub: config.live.kind === 'memory' ? new IpcHub() : undefined,
    orders: { file, masterKey, logLevel, startedMs: Date.now() },
    readText: async () => (await readConfigFile(file, env, otherFile)).text,
  });
  onLostErrors(log, {
    end: () => crew.close(),
    longestEndMs: () => 2 * (config.listen.drainDelayMs + config.listen.shutdownTimeoutMs + lastStepsMs),
  });
  onSignals({
    log,
    close: () => crew.close(),
    kill: () => crew.kill(),
    reload: async () => {
      const { problems } = await crew.reload();
      if (problems.length > 0) throw new ConfigError(problems);
    },
  });
  const url = await crew.start().catch((error: unknown) => {
    crew.kill();
    throw error;
  });
  await announce(url, start, { workers: size });
  crew.lost.catch((error: unknown) => {
    log.error({}, error instanceof Error ? error.message : String(error));
    void crew.close().then(() => process.exit(1));
  });
}
