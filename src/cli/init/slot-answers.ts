import type { Environment } from '../../config/environment.js';
import { UsageError } from '../../gateway/start-failure.js';
import type { Blank } from './blanks.js';
import type { SlotAnswers } from './filled-slot.js';
import { idOf, type Provider } from './providers.js';
import type { Questions } from './questions.js';

/** Options of `gw2api init` about the slot. */
export interface SlotArguments {
  /** `NAME=VALUE` for the blanks of the provider's slot. */
  readonly set?: readonly string[] | undefined;
  /** Names of the models that the slot serves; default: those that the provider lists. */
  readonly model?: readonly string[] | undefined;
  /** Address of the provider; default: the one of its slot. */
  readonly 'base-url'?: string | undefined;
}

/** Answers about a slot from the options, the environment and a person. Throws a UsageError. */
export async function slotAnswers(
  provider: Provider,
  given: SlotArguments,
  env: Environment,
  questions: Questions | undefined,
): Promise<SlotAnswers> {
  return {
    set: await valuesOf(provider, given, env, questions),
    models: await modelsOf(provider, given.model, questions),
  };
}

/** Values of a slot's blanks, from the options, the environment, or by asking. */
async function valuesOf(
  provider: Provider,
  { set = [], 'base-url': baseUrl }: SlotArguments,
  env: Environment,
  questions: Questions | undefined,
): Promise<Readonly<Record<string, string>>> {
  const { blanks = [] } = provider;
  const values = new Map(set.map((entry) => assignmentIn(entry, provider)));
  if (baseUrl !== undefined) values.set('baseUrl', baseUrlIn(baseUrl));
  for (const blank of blanks) {
    const value = values.get(blank.name) ?? fromEnvironment(blank, env) ?? (await answerTo(blank, questions));
    if (value !== undefined) values.set(blank.name, value);
  }
  return Object.fromEntries(values);
}

function assignmentIn(entry: string, { blanks = [], ...provider }: Provider): readonly [string, string] {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(entry) ?? [];
  const names = blanks.map((blank) => blank.name);
  if (!names.includes(name))
    throw new UsageError(
      `--set takes NAME=VALUE; ${idOf(provider)} has ${names.join(', ') || 'nothing to set'}, not "${name || entry}".`,
    );
  if (isValue(value)) return [name, value];
  throw new UsageError(`--set ${name}: must be one line without spaces.`);
}

function baseUrlIn(text: string): string {
  const isUrl = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (isUrl && isValue(text)) return text.replace(/\/+$/, '');
  throw new UsageError('--base-url takes an address that begins with http:// or https://.');
}

function isValue(text: string): boolean {
  return /^[^\s\p{Cc}${}]{1,500}$/u.test(text);
}

function fromEnvironment({ env: names = [] }: Blank, env: Environment): string | undefined {
  return names.map((name) => env[name]).find((value) => value !== undefined && isValue(value));
}

/** Asks for the value of a blank; undefined if it is to be filled in later. */
async function answerTo(
  { question, text, isOptional }: Blank,
  questions: Questions | undefined,
): Promise<string | undefined> {
  const isAnswer = (answer: string) => answer === '' || isValue(answer);
  const answer = isOptional
    ? await questions?.ask(question, isValue, text)
    : await questions?.ask(`${question} (empty: later)`, isAnswer);
  return answer || undefined;
}

/** Given names of models; asks for them only if the provider lists none. */
async function modelsOf(
  { asksModels = false }: Provider,
  given: readonly string[] | undefined,
  questions: Questions | undefined,
): Promise<readonly string[]> {
  const isList = (text: string) => namesIn(text).every(isValue);
  const answer =
    asksModels && given === undefined
      ? await questions?.ask('Names of your deployments, separated by commas (empty: later)', isList)
      : undefined;
  const names = given?.flatMap(namesIn) ?? namesIn(answer ?? '');
  const wrong = names.find((name) => !isValue(name));
  if (wrong !== undefined) throw new UsageError(`--model: "${wrong}" is not the name of a model.`);
  return [...new Set(names)];
}

function namesIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
