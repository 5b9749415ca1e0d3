import { existsSync } from 'node:fs';
import { packageFile } from '../kit/package-files.js';
import { loadDotEnv } from '../config/environment.js';
import { UsageError } from '../gateway/start-failure.js';
import { trimSecrets } from './sent-secrets.js';

/** The config file to use, once `.env` has been read. */
export async function configFile(given: string | undefined): Promise<string> {
  await readDotEnv();
  return given ?? (process.env['GW_CONFIG'] || defaultConfigFile());
}

/** Reads `.env` of the working directory into the environment. Throws a UsageError if it cannot be read. */
export async function readDotEnv(): Promise<void> {
  await loadDotEnv(process.cwd(), process.env).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`.env cannot be read (${error.code}); fix or remove it.`);
  });
  trimSecrets(process.env);
}

/** Default config file: `config/gateway.yaml` of the working directory, else that of this package. */
function defaultConfigFile(): string {
  const local = 'config/gateway.yaml';
  return existsSync(local) ? local : packageFile(local);
}
