import type { Config } from '../config/config.js';
import type { Environment } from '../config/substitute.js';
import type { Logger } from '../plugin/index.js';
import { createLogger, standardOutput } from '../telemetry/logs.js';
import { version } from '../version.js';
import { keepMasterKey, weaknessOf, welcome } from './first-start.js';
import { UsageError } from './usage-error.js';

/** What is settled before anything runs, by the one process that was started. */
export interface Start {
  readonly file: string;
  readonly env: Environment;
  /** What the file says, and what that means. */
  readonly text: string;
  readonly config: Config;
  readonly log: Logger;
  readonly logLevel: string;
  readonly masterKey: string;
  readonly isNewKey: boolean;
  readonly secretKey: () => Promise<string | undefined>;
}

/** What helps where the config file cannot be read. */
export const otherFile = 'name another by --config FILE or GW_CONFIG';

/** Time limit for the steps after the last request: stages are disposed, the ledger and the store are closed. */
export const lastStepsMs = 20_000;

/** Says where it listens and, where the key is new, what it is: a start that fails must not leave one behind. */
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

/** What a listen error means, to whoever set the address. */
export function listenProblem(error: unknown, { host, port }: { host: string; port: number }): UsageError {
  const code = (error as NodeJS.ErrnoException).code ?? ''; // what a listen error has
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another process listens there; stop it or set another port (PORT=8788)',
    EACCES: 'that port needs more rights; take one above 1023 (PORT=8787)',
    EADDRNOTAVAIL: 'this machine has no such address; set HOST=0.0.0.0 for all of them',
  };
  return new UsageError(`Cannot listen on ${host}:${port}: ${reasons[code] ?? String(error)}.`);
}

/** A log on standard output, which is complete when the process ends. */
export function processLog(level: string): Logger {
  const output = standardOutput();
  process.on('exit', () => output.flush());
  return createLogger(level, output);
}
