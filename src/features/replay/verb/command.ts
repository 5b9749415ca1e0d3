import path from 'node:path';
import { ConfigError, type Config } from '../../../config/config.js';
import type { Environment } from '../../../config/environment.js';
import { readConfigFile } from '../../../config/load.js';
import { SecretPlaceholders } from '../../dry-run/placeholders.js';
import type { OpenGateway } from '../../../gateway/gateway.js';
import { loadGatewayConfig } from '../../../gateway/load-config.js';
import { UsageError } from '../../../gateway/start-failure.js';
import { durationMs } from '../../../plugin/index.js';
import type { VerbCall, VerbResult } from '../../feature.js';
import { RecordedFiles } from '../recorded-files.js';
import { replay } from '../replay.js';
import type { ReplayReport } from '../report.js';
import { replayText } from './report-text.js';
import { createCipher } from '../../../state/store/credential-cipher.js';
import { auditedUse } from './audited-recordings.js';
import { scenariosOf } from '../../dry-run/slot-scenarios.js';

/** Options of `gw2api replay` as they were given. */
export interface ReplayValues {
  readonly config?: string;
  readonly against?: string;
  readonly recorded?: string;
  readonly last?: string;
  readonly limit?: string;
  /** `ID=SCENARIO` each. */
  readonly slot?: readonly string[];
  readonly texts?: boolean;
  readonly delete?: boolean;
  readonly json?: boolean;
}

/** Options of a replay, and the config files of its two sides. */
export interface ReplayArguments extends Omit<ReplayValues, 'config' | 'against'> {
  readonly old: string;
  readonly new: string;
}

/** Runs the command. Throws a UsageError (exit code 2) with the problems. */
export async function run({
  values: { config, against, ...values },
  env,
  configFile,
  openGateway,
}: VerbCall<ReplayValues>): Promise<VerbResult> {
  if (config === undefined && against === undefined && !values.delete)
    throw new UsageError('replay takes the config to compare as --config NEW or --against OLD; see --help.');
  const inForce = await configFile(undefined);
  const files = { new: config ?? inForce, old: against ?? inForce };
  return replayRecorded({ ...values, ...files }, env, openGateway);
}

/**
 * Replays recorded requests through two configs, or deletes them; both are audited. Throws a UsageError (exit code 2)
 * with the problems.
 */
export async function replayRecorded(
  given: ReplayArguments,
  env: Environment,
  openGateway: OpenGateway,
): Promise<VerbResult> {
  if (given.recorded === undefined && given.last === undefined)
    throw new UsageError('replay takes --recorded FOLDER, or --last 24h; see --help.');
  const sinceMs = sinceOf(given);
  const recorded = await RecordedFiles.open(given.recorded ?? folderOf(await load(given.old, env)));
  try {
    if (given.delete) return await deleteRecorded(recorded, sinceMs, () => load(given.old, env));
    return await compare(recorded, given, { env, openGateway, sinceMs });
  } catch (error) {
    throw asUsageError(error);
  }
}

async function deleteRecorded(
  recorded: RecordedFiles,
  sinceMs: number,
  config: () => Promise<Config>,
): Promise<VerbResult> {
  const use = { what: 'delete', folder: recorded.folder, sinceMs, config } as const;
  const { result, ...audited } = await auditedUse(use, async (action) => {
    const deleted = await recorded.delete(sinceMs);
    action.note({ deleted });
    return deleted;
  });
  return { text: `Deleted ${result} recordings of ${recorded.folder}.\n`, exitCode: 0, ...audited };
}

interface Start {
  readonly env: Environment;
  readonly openGateway: OpenGateway;
  readonly sinceMs: number;
}

async function compare(
  recorded: RecordedFiles,
  given: ReplayArguments,
  { env, openGateway, sinceMs }: Start,
): Promise<VerbResult> {
  const secretKey = env['GW_SECRET_KEY'];
  if (!secretKey) throw new UsageError('GW_SECRET_KEY is not set: recordings are encrypted with it.');
  const [old, next] = [await load(given.old, env), await load(given.new, env)];
  const known = [...new Set([old, next].flatMap(({ slots }) => slots.map(({ id }) => id)))];
  const bounds = { limit: limitOf(given), slots: scenariosOf(given.slot ?? [], known), sinceMs };
  const withTexts = given.texts ?? false;
  const secrets = createCipher(secretKey, env['GW_SECRET_KEY_OLD']);
  const use = {
    what: 'replay',
    folder: recorded.folder,
    sinceMs,
    old: old.file,
    new: next.file,
    texts: withTexts,
    config: () => Promise.resolve(old),
  } as const;
  const { result: report, ...audited } = await auditedUse(use, () =>
    replay({
      ...bounds,
      old,
      new: next,
      openGateway,
      recorded,
      secrets,
      withTexts,
      onProgress: showProgress,
    }),
  );
  const text = given.json ? `${JSON.stringify(report, null, 2)}\n` : replayText(report);
  return { text, exitCode: exitCodeOf(report), ...audited };
}

function exitCodeOf({ requests, different }: ReplayReport): 0 | 1 | 2 {
  if (requests === 0) return 2;
  return different === 0 ? 0 : 1;
}

/** Loads a config, with placeholders for secrets that the environment lacks. */
async function load(file: string, env: Environment): Promise<Config> {
  try {
    const input = await readConfigFile(file, env);
    return await loadGatewayConfig({ ...input, placeholders: new SecretPlaceholders() });
  } catch (error) {
    throw asUsageError(error);
  }
}

/** Folder of the stage `record` of a config, enabled or not; else the stage's default. */
function folderOf({ pipeline, baseDir }: Config): string {
  const folder = pipeline.find(({ use }) => use === 'record')?.with['folder'];
  return typeof folder === 'string' ? path.resolve(baseDir, folder) : path.resolve('data/recorded');
}

function sinceOf({ last }: ReplayArguments): number {
  if (last === undefined) return 0;
  try {
    return Date.now() - durationMs(last);
  } catch (error) {
    throw new UsageError(`--last ${String(error instanceof Error ? error.message : error)}`);
  }
}

function limitOf({ limit = '10000' }: ReplayArguments): number {
  if (/^[1-9]\d{0,6}$/.test(limit)) return Number(limit);
  throw new UsageError(`--limit takes a number of recordings from 1 to 9999999, not "${limit}".`);
}

/** Problems of the configs, of files and of scenarios as usage errors; anything else is a bug. */
function asUsageError(error: unknown): unknown {
  if (error instanceof ConfigError) return new UsageError(error.message);
  const { code, message } = error as NodeJS.ErrnoException; // all that is thrown is an Error
  if (code !== undefined && /^E[A-Z]+$/.test(code)) return new UsageError(`${message}.`);
  return /^there is no (slot|scenario) /.test(message) ? new UsageError(message) : error;
}

const progressEvery = 25;

/** Shows the progress at a terminal. */
function showProgress(done: number, all: number): void {
  if (!process.stderr.isTTY || (done % progressEvery !== 0 && done !== all)) return;
  process.stderr.write(done === all ? '\r\u001B[K' : `\r${done} of ${all} requests`);
}
