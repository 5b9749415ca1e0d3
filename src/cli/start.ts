import type { Config } from '../config/config.js';
import type { Environment } from '../config/substitute.js';
import type { Logger } from '../plugin/index.js';
import { createLogger, standardOutput } from '../telemetry/logs.js';
import { version } from '../version.js';
import { keepMasterKey, weaknessOf, welcome } from './first-start.js';
import { UsageError } from './usage-error.js';

/** Inputs of a start, read once by the process that was started. */
export interface Start {
  readonly file: string;
  readonly env: Environment;
  /** Contents of the config file; `config` is its checked form. */
  readonly text: string;
  readonly config: Config;
  readonly log: Logger;
  readonly logLevel: string;
  readonly masterKey: string;
  readonly isNewKey: boolean;
  readonly secretKey: () => Promise<string | undefined>;
}

/** The fix that messages suggest if the config file cannot be read. */
export const otherFile = 'name another by --config FILE or GW_CONFIG';

/**
 * Time limit for the steps after the last request: disposing the stages, closing the ledger and the store.
 */
export const lastStepsMs = 20_000;

/**
 * Logs the address, and saves and prints a new master key. Called after listening, because a failed start
 * must not leave a key behind.
 */
export async function announce(url: string, start: Start, fields: object = {}): Promise<void> {
  const { file, config, log, masterKey } = start;
  const { pid } = process;
  log.info(
    { url, config: file, slots: config.slots.length, version, pid, ...fields },
    'The gateway is listening.',
  );
  if (config.store.kind !== 'memory' && !(await start.secretKey()))
    log.warn({}, 'GW_SECRET_KEY is not set and .env cannot be written: the store can keep no credentials.');
  const weakness = weaknessOf(masterKey);
  if (weakness) log.warn({}, weakness);
  if (!start.isNewKey) return;
  const kept = await keepMasterKey(process.cwd(), masterKey);
  const model = config.models[0]?.id ?? 'sonnet-5';
  process.stdout.write(welcome(url, { masterKey, file: kept }, model));
}

/** Explains a listen error, with the fix. */
export function listenProblem(error: unknown, { host, port }: { host: string; port: number }): UsageError {
  const code = (error as NodeJS.ErrnoException).code ?? ''; // what a listen error has
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another process listens there; stop it or set another port (PORT=8788)',
    EACCES: 'that port needs more rights; take one above 1023 (PORT=8787)',
    EADDRNOTAVAIL: 'this machine has no such address; set HOST=0.0.0.0 for all of them',
  };
  return new UsageError(`Cannot listen on ${host}:${port}: ${reasons[code] ?? String(error)}.`);
}

/** Logger on standard output, flushed when the process exits. */
export function processLog(level: string): Logger {
  const output = standardOutput();
  process.on('exit', () => output.flush());
  return createLogger(level, output);
}
