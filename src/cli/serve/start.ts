import type { Config } from '../../config/config.js';
import type { Environment } from '../../config/environment.js';
import { type Logger, globMatcher } from '../../plugin/index.js';
import type { LogFormat } from '../../gateway/telemetry/logs.js';
import { version } from '../../kit/version.js';
import { keepMasterKey, welcome } from './first-start.js';
import { weakSecrets } from '../weak-secrets.js';

/** Inputs of a start, read once by the process that was started. */
export interface Start {
  readonly file: string;
  readonly env: Environment;
  /** Contents of the config file; `config` is its checked form. */
  readonly text: string;
  readonly config: Config;
  readonly log: Logger;
  readonly logLevel: string;
  readonly logFormat: LogFormat;
  readonly masterKey: string;
  readonly isNewKey: boolean;
  readonly secretKey: () => Promise<string | undefined>;
}

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
    log.warn(
      {},
      'GW_SECRET_KEY is not set and .env cannot be written: the store cannot keep credentials. Set GW_SECRET_KEY.',
    );
  if (start.env['GW_SECRET_KEY_OLD'])
    log.info(
      {},
      'GW_SECRET_KEY_OLD is set and still decrypts old values; gw2api rotate-secret re-encrypts them.',
    );
  for (const warning of weakSecrets(start.env)) log.warn({}, warning);
  if (!start.isNewKey) return;
  const kept = await keepMasterKey(process.cwd(), masterKey);
  process.stdout.write(welcome(url, { masterKey, file: kept }, exampleModel(config)));
}

/** Name of a model that a slot serves, as far as the config names one; undefined if only the upstreams know. */
function exampleModel({ slots, models }: Pick<Config, 'slots' | 'models'>): string | undefined {
  const served = slots.flatMap((slot) => (slot.discovers ? [] : slot.models));
  const isServed = globMatcher(served);
  const inCatalog = models.find(({ id, upstreamModel, aliases }) =>
    [id, upstreamModel, ...aliases].some(isServed),
  );
  return inCatalog?.id ?? served.find((name) => !name.includes('*'));
}
