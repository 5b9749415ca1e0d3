import path from 'node:path';
import type { Environment } from '../../config/environment.js';
import { UsageError } from '../../gateway/start-failure.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { presentConfig, type PresentConfig } from './add.js';
import { readDotEnv, type Variables } from './dot-env.js';
import { filledSlot, type FilledSlot } from './filled-slot.js';
import { idOf, providers, simulator, type Provider } from './providers.js';
import { Questions, type Streams } from './questions.js';
import { slotAnswers, type SlotArguments } from './slot-answers.js';

/** Options of `gw2api init` as they were given. */
export interface InitArguments extends SlotArguments {
  readonly provider?: string | undefined;
  /** Name of the variable of the environment that has the key. */
  readonly 'key-env'?: string | undefined;
  readonly port?: string | undefined;
  readonly folder?: string | undefined;
  /** Adds a slot to the existing config. */
  readonly add?: boolean | undefined;
  readonly force?: boolean | undefined;
  /** True: the placeholder works, too. */
  readonly 'no-test'?: boolean | undefined;
  /** Also asks the provider for its models, as `check --online` does. */
  readonly online?: boolean | undefined;
}

/** Undefined without a terminal. */
export type Terminal = Streams | undefined;

/** Texts to write, with their places. */
export interface Choice {
  readonly provider: Provider;
  readonly slot: FilledSlot;
  /** Port of a new config. */
  readonly port: number;
  readonly folder: string;
  /** Keys of the provider; undefined if not known yet. */
  readonly keys: Variables;
  /** Config that the slot is added to; undefined: a new one is written. */
  readonly present: PresentConfig | undefined;
}

/** Reads the options, and asks for the rest at a terminal. Throws a UsageError. */
export async function choiceOf(given: InitArguments, env: Environment, terminal: Terminal): Promise<Choice> {
  const folder = path.resolve(given.folder ?? '.');
  if (given.add && given.port !== undefined)
    throw new UsageError('--port is in the config already; leave it out with --add.');
  const present = given.add ? await presentConfig(folder) : undefined;
  const questions = terminal && new Questions(terminal);
  const provider = providerOf(given.provider ?? (await askProvider(questions)));
  const port = given.add ? 0 : await portOf(given.port, questions);
  const answers = await slotAnswers(provider, given, env, questions);
  const slot = filledSlot(provider, answers, present?.ids);
  const known = { ...(await readDotEnv(path.join(folder, '.env'))), ...env };
  const keys = await keysOf({ provider, slot }, given['key-env'], known, questions);
  return { provider, slot, port, folder, keys, present };
}

const all = [...providers, simulator];
const defaultPort = '8787';

async function askProvider(questions: Questions | undefined): Promise<string> {
  if (!questions) throw new UsageError(`--provider is missing: one of ${all.map(idOf).join(', ')}.`);
  const answers = all.map((provider, at) => ({
    value: idOf(provider),
    label: `${String(at + 1).padStart(2)}  ${provider.name} (${idOf(provider)})`,
    names: namesOf(provider),
  }));
  return questions.choose('Provider, by number or name', answers, idOf(simulator));
}

/** Its id, the alias that it may have, and its number in the list. */
function namesOf(provider: Provider): readonly string[] {
  const alias = provider.alias === undefined ? [] : [provider.alias];
  return [idOf(provider), ...alias, String(all.indexOf(provider) + 1)];
}

function providerOf(name: string): Provider {
  const provider = all.find((each) => namesOf(each).includes(name));
  if (provider) return provider;
  const meant = didYouMean(name, all.flatMap(namesOf));
  throw new UsageError(
    `"${name}" is not a provider; ${meant ? `did you mean "${meant}"?` : `take one of ${all.map(idOf).join(', ')}.`}`,
  );
}

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;
}

async function portOf(given: string | undefined, questions: Questions | undefined): Promise<number> {
  const text = given ?? (await questions?.ask('Port', isPort, defaultPort)) ?? defaultPort;
  if (isPort(text)) return Number(text);
  throw new UsageError(`--port takes a number from 1 to 65535, not "${text}".`);
}

/** Keys of a provider, from the environment or by asking; they are never shown. */
async function keysOf(
  { provider, slot }: Pick<Choice, 'provider' | 'slot'>,
  from: string | undefined,
  env: Environment,
  questions: Questions | undefined,
): Promise<Variables> {
  const names = slot.variables;
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
