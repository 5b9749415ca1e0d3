import { availableParallelism } from 'node:os';
import { readConfigFile } from '../config/load.js';
import { masterKeyOf, secretKeyOf } from './first-start.js';
import { loadGatewayConfig } from '../gateway/load-config.js';
import { logLevels } from '../telemetry/logs.js';
import { otherFile, processLog } from './start.js';
import { UsageError } from './usage-error.js';

/** Serves in this process, or in as many workers as the config says. Throws if the start fails. */
export async function serve(file: string): Promise<undefined> {
  const { env } = process;
  const logLevel = logLevelOf(env['GW_LOG_LEVEL']);
  const log = processLog(logLevel);
  const input = await readConfigFile(file, env, otherFile);
  const config = await loadGatewayConfig(input);
  const { masterKey, isNew } = masterKeyOf(env);
  const secretKey = secretKeyOf(process.cwd(), env);
  const start = { file, env, text: input.text, config, log, logLevel, masterKey, isNewKey: isNew, secretKey };
  const { workers } = config.listen;
  const size = workers === 'auto' ? availableParallelism() : workers;
  // Imported lazily: a process needs only one of the two.
  if (size === 1) await (await import('./single.js')).serveAlone(start);
  else await (await import('../workers/primary.js')).serveByWorkers(start, size);
}

function logLevelOf(level: string | undefined): string {
  if (!level) return 'info';
  if (logLevels.some((known) => known === level)) return level;
  throw new UsageError(`GW_LOG_LEVEL must be one of ${logLevels.join(', ')}, not "${level}".`);
}
