import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '../config/environment.js';
import { loadGatewayConfigFile } from '../gateway/load-config.js';
import { UsageError } from '../gateway/start-failure.js';
import { makeFolder } from '../plugin/index.js';
import type { FirstCall } from './first-call.js';
import { configFile, testsFile, withModels, withSlot, withTest } from './init/add.js';
import { choiceOf, type Choice, type InitArguments, type Terminal } from './init/choice.js';
import { addToDotEnv, readDotEnv, type Variables } from './init/dot-env.js';
import { newCatalog, newConfig, newTests } from './init/files.js';
import { simulator } from './init/providers.js';
import { report } from './init/report.js';

export type { InitArguments, Terminal } from './init/choice.js';

/** Texts to write: files by their paths in the folder, and the tests by their model. */
interface Plan {
  readonly files: Readonly<Record<string, string>>;
  readonly tests: (model: string) => string;
}

/**
 * Writes a config, its tests and `.env`, or adds a slot to them; calls the slot once, for at most 16 tokens, if its key
 * is known; then prints the next steps. Throws a UsageError, and then writes nothing.
 */
export async function init(
  given: InitArguments,
  env: Environment,
  terminal: Terminal,
): Promise<{ readonly text: string; readonly exitCode: 0 }> {
  const choice = await choiceOf(given, env, terminal);
  const { provider, slot, folder } = choice;
  const plan = choice.present ? await changesOf(choice) : await newFiles(choice, given.force);
  const [asked = provider.model] = slot.models;
  const files = { ...plan.files, [testsFile]: plan.tests(asked) };
  const staying = await write(choice, files);
  const all = { ...(await readDotEnv(path.join(folder, '.env'))), ...env };
  const call = given['no-test'] ? undefined : await firstCallOf(choice, all, asked);
  const model = (call?.state === 'answered' && call.model) || asked;
  if (model !== asked) await writeFile(path.join(folder, testsFile), plan.tests(model));
  const text = report(choice, { files: Object.keys(files), staying, model, call });
  return { text: given.online ? `${text}\n${await checked(choice, all)}` : text, exitCode: 0 };
}

/** Result of `check --online` for the config that was written. */
async function checked({ folder }: Choice, env: Environment): Promise<string> {
  const { check } = await import('./check.js');
  const { text } = await check(path.join(folder, configFile), env, true);
  return text;
}

async function newFiles({ provider, slot, port, folder }: Choice, isForced = false): Promise<Plan> {
  const files = {
    [configFile]: await newConfig(slot, port),
    'config/models.yaml': await newCatalog(provider, slot),
  };
  const taken = [...Object.keys(files), testsFile].find((file) => existsSync(path.join(folder, file)));
  if (taken !== undefined && !isForced)
    throw new UsageError(
      `${taken} already exists; choose another --folder, --add to add a slot to it, or --force to write over it.`,
    );
  return { files, tests: (model) => newTests(slot, model) };
}

async function changesOf({ present, provider, slot, folder }: Choice): Promise<Plan> {
  if (!present) return { files: {}, tests: () => '' };
  const catalog = await withModels(folder, present, provider, slot);
  const files = { [configFile]: withSlot(present, slot), ...(catalog && { [catalog.file]: catalog.text }) };
  return { files, tests: await withTest(folder, slot) };
}

async function write(
  { folder, keys, present }: Choice,
  files: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  await makeFolder(folder);
  const secrets = present ? {} : newSecrets();
  const staying = await addToDotEnv(path.join(folder, '.env'), { ...secrets, ...keys });
  for (const [file, text] of Object.entries(files)) {
    await makeFolder(path.dirname(path.join(folder, file)));
    await writeFile(path.join(folder, file), text);
  }
  return staying;
}

function newSecrets(): Variables {
  return {
    GW2API_API_KEY: `gw-master-${randomBytes(24).toString('base64url')}`,
    GW_SECRET_KEY: randomBytes(32).toString('base64'),
  };
}

/** Call of the slot that was written, if its values are complete. Never throws: the files are written. */
async function firstCallOf(
  { provider, slot, folder, keys }: Choice,
  env: Environment,
  model: string,
): Promise<FirstCall | undefined> {
  const isComplete = slot.missing.length === 0 && Object.keys(keys).every((name) => env[name]);
  if (provider === simulator || !isComplete) return undefined;
  try {
    const config = await loadGatewayConfigFile(path.join(folder, configFile), env);
    const { firstCalls } = await import('./first-call.js');
    const options = { slots: [slot.id], preferred: [model], secretKey: env['GW_SECRET_KEY'] };
    return (await firstCalls(config, options))[0];
  } catch (error) {
    return { slot: slot.id, state: 'failed', text: error instanceof Error ? error.message : String(error) };
  }
}
