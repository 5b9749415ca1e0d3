import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import type { OptionKind, Verb, VerbResult } from '../features/feature.js';
import type { OpenGateway } from '../gateway/gateway.js';
import { failureOf, startFailure, UsageError } from '../gateway/start-failure.js';
import { version } from '../kit/version.js';
import { commands } from './commands.js';
import { configFile } from './config-file.js';

/**
 * Runs the command line. Returns an exit code, or undefined while the gateway serves until a signal ends it; `exit`
 * ends a process whose start was refused.
 */
export async function main(
  args: readonly string[],
  exit: (code: number) => Promise<number> = exitProcess,
): Promise<number | undefined> {
  try {
    return await command(args);
  } catch (error) {
    const failure = failureOf(parsed(error));
    if (!failure) throw error;
    process.stderr.write(`${failure.message}\n`);
    return exit(failure.exitCode);
  }
}

async function exitProcess(code: number): Promise<never> {
  const { exitWhenWritten } = await import('../gateway/telemetry/process-exit.js');
  return exitWhenWritten(code);
}

async function command(args: readonly string[]): Promise<number | undefined> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: options() });
  const { help, version: asksVersion, ...given } = values;
  const [word, ...words] = positionals;
  if (help) return print((await import('./usage-text.js')).usageOf(word));
  if (asksVersion) return print(`${version}\n`);
  if (word === undefined) return serve(given);
  const known = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (!known) throw new UsageError(`"${word}" is not a command; see --help.`);
  refuseOthers(given, Object.keys(known.options));
  if (words.length > known.words)
    throw new UsageError(`"${words[known.words]}" is one argument too many for ${word}; see --help.`);
  const { text, exitCode, note } = await run(known, given as Values, words); // each of a kind that it has
  print(text);
  if (note !== undefined) process.stderr.write(`${note}\n`);
  return exitCode;
}

type Values = Parameters<Verb['run']>[0]['values'];

/** Options of all commands, for `parseArgs`. */
function options() {
  const all: Readonly<Record<string, OptionKind>> = Object.assign(
    { help: 'flag', version: 'flag' },
    ...Object.values(commands).map((verb) => verb.options),
  );
  const parsed = Object.entries(all).map(([name, kind]) => {
    const type: 'boolean' | 'string' = kind === 'flag' ? 'boolean' : 'string';
    return [name, { type, multiple: kind === 'texts' }] as const;
  });
  return Object.fromEntries(parsed);
}

function run(verb: Verb, values: Values, words: readonly string[]): Promise<VerbResult> {
  if (verb.isShort) expectShortRun();
  const { env, stdout } = process;
  return verb.run({
    values,
    words,
    env,
    isColoured: stdout.isTTY && !env['NO_COLOR'],
    configFile,
    openGateway,
  });
}

/**
 * Makes V8 optimize functions later, since optimization costs more than it saves in a run of a second or two; hot loops
 * are still optimized. Only the V8 of Node 20 has the flag; others would complain about it.
 */
function expectShortRun(): void {
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=1000000');
}

const openGateway: OpenGateway = async (config, given) =>
  (await import('../features/open.js')).openGateway(config, given);

async function serve(given: Readonly<Record<string, unknown>>): Promise<number | undefined> {
  refuseOthers(given, ['config']);
  const { serve } = await import('./serve/serve.js');
  const file = await configFile(given['config'] as string | undefined); // its kind is text
  return serve(file).catch((error: unknown) => {
    throw startFailure(error);
  });
}

function refuseOthers(given: object, taken: readonly string[]): void {
  const other = Object.keys(given).find((name) => !taken.includes(name));
  if (other === undefined) return;
  const owners = Object.entries(commands).filter(([, { options }]) => Object.hasOwn(options, other));
  const names = new Intl.ListFormat('en-GB').format(owners.map(([name]) => name).toSorted());
  throw new UsageError(`--${other} goes with ${names}; see --help.`);
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

/**
 * Converts an error of parseArgs to a UsageError with its first sentence; the second one is about arguments
 * that this program does not have.
 */
function parsed(error: unknown): unknown {
  const isParseError =
    error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  return isParseError ? new UsageError(`${error.message.replace(/\.( .*)?$/s, '')}; see --help.`) : error;
}
