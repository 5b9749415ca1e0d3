import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../config/environment.js';
import { UsageError } from '../gateway/start-failure.js';
import { didYouMean, makeFolder } from '../plugin/internal.js';
import { addToDotEnv, type Variables } from './init/dot-env.js';
import { filesFor } from './init/files.js';
import { idOf, providers, simulator, variablesOf, type Provider } from './init/providers.js';
import { Questions } from './init/questions.js';

/** Options of `gw2api init` as they were given. */
export interface InitArguments {
  readonly provider?: string | undefined;
  /** Name of the variable of the environment that has the key. */
  readonly 'key-env'?: string | undefined;
  readonly port?: string | undefined;
  readonly folder?: string | undefined;
  readonly force?: boolean | undefined;
  /** Also asks the provider for its models, as `check --online` does. */
  readonly online?: boolean | undefined;
}

/** Input and output of a person; undefined where nobody can be asked. */
export type Terminal =
  | { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream }
  | undefined;

interface Choice {
  readonly provider: Provider;
  readonly port: number;
  readonly folder: string;
  /** Keys of the provider; undefined: not known yet. */
  readonly keys: Variables;
}

/** Writes a config, its tests and `.env`, and says what to do next. Throws a UsageError, and then writes nothing. */
export async function init(
  given: InitArguments,
  env: Environment,
  terminal: Terminal,
): Promise<{ readonly text: string; readonly exitCode: 0 }> {
  const choice = await chosen(given, env, terminal);
  const files = await filesFor(choice.provider, choice.port);
  const taken = Object.keys(files).find((file) => existsSync(path.join(choice.folder, file)));
  if (taken !== undefined && !given.force)
    throw new UsageError(`${taken} is there already; take another --folder, or --force to write over it.`);
  const staying = await write(choice, files);
  const text = report(choice, Object.keys(files), staying);
  return { text: given.online ? `${text}\n${await checked(choice, env)}` : text, exitCode: 0 };
}

/** Result of `check --online` for the config that was written. */
async function checked({ folder, keys }: Choice, env: Environment): Promise<string> {
  const { check } = await import('./check.js');
  const { text } = await check(path.join(folder, 'config/gateway.yaml'), { ...env, ...keys }, true);
  return text;
}

async function write(choice: Choice, files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { folder, keys } = choice;
  await makeFolder(folder);
  const staying = await addToDotEnv(path.join(folder, '.env'), { ...newSecrets(), ...keys });
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

async function chosen(given: InitArguments, env: Environment, terminal: Terminal): Promise<Choice> {
  const folder = path.resolve(given.folder ?? '.');
  const questions = terminal && new Questions(terminal.input, terminal.output);
  try {
    const provider = providerOf(given.provider ?? (await askProvider(questions)));
    const port = portOf(given.port ?? (await questions?.ask('Port', isPort, defaultPort)) ?? defaultPort);
    return { provider, port, folder, keys: await keysOf(provider, given['key-env'], env, questions) };
  } finally {
    questions?.close();
  }
}

const all = [...providers, simulator];
const defaultPort = '8787';

async function askProvider(questions: Questions | undefined): Promise<string> {
  if (!questions) throw new UsageError(`--provider is missing: one of ${all.map(idOf).join(', ')}.`);
  const list = all.map(
    (provider, at) => `  ${String(at + 1).padStart(2)}  ${provider.name} (${idOf(provider)})`,
  );
  return questions.ask(
    `Providers:\n${list.join('\n')}\nProvider, by number or name`,
    (answer) => findProvider(answer) !== undefined,
    idOf(simulator),
  );
}

function findProvider(answer: string): Provider | undefined {
  return all.find((provider, at) => idOf(provider) === answer || String(at + 1) === answer);
}

function providerOf(name: string): Provider {
  const provider = findProvider(name);
  if (provider) return provider;
  const meant = didYouMean(name, all.map(idOf));
  throw new UsageError(
    `"${name}" is not a provider; ${meant ? `did you mean "${meant}"?` : `take one of ${all.map(idOf).join(', ')}.`}`,
  );
}

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;
}

function portOf(text: string): number {
  if (isPort(text)) return Number(text);
  throw new UsageError(`--port takes a number from 1 to 65535, not "${text}".`);
}

/** Keys of a provider, from the environment or by asking; they are never shown. */
async function keysOf(
  provider: Provider,
  from: string | undefined,
  env: Environment,
  questions: Questions | undefined,
): Promise<Variables> {
  const names = variablesOf(provider);
  if (from !== undefined && names.length !== 1)
    throw new UsageError(
      `--key-env goes with a provider that has one key; ${idOf(provider)} has ${names.length}: ${names.join(', ') || 'none'}.`,
    );
  if (from !== undefined && !env[from])
    throw new UsageError(`--key-env: ${from} is not set in the environment.`);
  const keys: Record<string, string | undefined> = {};
  for (const name of names)
    keys[name] =
      env[from ?? name] || (await questions?.askHidden(`${name} (not shown; empty: later)`)) || undefined;
  return keys;
}

function report(
  { provider, port, folder, keys }: Choice,
  files: readonly string[],
  staying: readonly string[],
): string {
  const missing = Object.entries(keys).flatMap(([name, value]) =>
    value || staying.includes(name) ? [] : [name],
  );
  const command = commandName();
  const shownFolder = path.relative(process.cwd(), folder);
  const steps = [
    ...(shownFolder === '' ? [] : [`cd ${shownFolder}`]),
    ...missing.map((name) => `put the key into .env: ${name}=…`),
    `${command} test             run the tests of the config; nothing leaves the machine`,
    ...(provider === simulator
      ? []
      : [
          `${command} check --online   reach the provider, show its models, and say which of config/models.yaml it lacks: set their upstreamModel`,
        ]),
    `${command} doctor           look for what would keep it from serving`,
    `${command}                  serve; the console is http://127.0.0.1:${port}/panel, its password GW2API_API_KEY of .env`,
  ];
  const kept =
    staying.length > 0 ? `; ${staying.join(', ')} stay${staying.length === 1 ? 's' : ''} as before` : '';
  return [
    `A config for ${provider.name} is written:`,
    ...files.map((file) => `  ${file}`),
    `  .env (keys, readable by you alone; keep it out of version control${kept})`,
    ...(provider.note === undefined ? [] : ['', `Note: ${provider.note}`]),
    '',
    'Next:',
    ...steps.map((step, at) => `  ${at + 1}. ${step}`),
    '',
  ].join('\n');
}

/** The command as it is called here: by its name where the package is installed. */
function commandName(): string {
  const server = fileURLToPath(new URL('../server.js', import.meta.url));
  return server.includes(`${path.sep}node_modules${path.sep}`)
    ? 'npx gw2api'
    : `node ${path.relative(process.cwd(), server)}`;
}
