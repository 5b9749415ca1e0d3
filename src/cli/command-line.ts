import { parseArgs } from 'node:util';
import { commands, configFile, options, type Values } from './commands.js';
import { name, version } from '../kit/version.js';
import { failureOf, startFailure, UsageError } from '../gateway/start-failure.js';

const configUsage = `  --config FILE   the config file; else GW_CONFIG, else config/gateway.yaml of the working directory, else the one
                  that the package brings, whose answers are made up
`;

const usage = `${name} ${version}: an LLM gateway

  gw2api [--config FILE]         run the gateway
  gw2api init                    write a config for a provider, its tests and .env; asks at a terminal
     --provider NAME             a slot of config/providers.md, or simulator
     --key-env NAME              variable of the environment that has its key; default: the one that its slot names
     --set NAME=VALUE            what the slot leaves blank: resource, region, project, workspace, keyFile
     --model NAME                models that it serves, any number; default: those that the provider lists or is known to have
     --base-url URL              address of the provider; default: that of its slot
     --add                       add a slot to the config of the folder, its tests and .env
     --no-test                   without a first call, of at most 16 tokens, where the key is known
     --port N                    default 8787
     --folder FOLDER             default: the working directory
     --force                     write over a config; never over a key in .env
     --online                    also check it and ask the provider for its models
  gw2api check [--config FILE]   check a config and print the pipeline as it will run
     --online                    resolve its slots and ask them for their models, too; 1 where one fails, or where
                                 no slot knows a model of the catalog
     --test                      run its tests, too; 1 where one fails
  gw2api doctor                  look for what would keep a gateway from serving here, and change nothing; 1 where there is
                                 something
     --online                    resolve its slots and ask them, and call each once as a caller would, for at most
                                 16 tokens
     --no-test                   without these calls
     --json                      the same as JSON
  gw2api test [FILES] [--config FILE]
                                 run the tests of a config, in it and in *.test.yaml beside it, or those of FILES; 1 where
                                 one fails, 2 where they or the config are refused
     --ci                        refuse tests with "only" or "skip"
     --watch                     again at each change of the config, the tests and local plugins
     --update                    write expected values in place of "expect: snapshot", in *.test.yaml
     --json | --junit            for programs
     --schema                    print the JSON Schema of test files, for editors
  gw2api diff OLD NEW            compare two config files: what would change, and what needs a restart; 1 where they differ
     --json                      the same as JSON
  gw2api replay --config NEW [--against OLD] --recorded FOLDER | --last 24h
                                 run requests that the stage \`record\` has kept through two configs, and print what
                                 differs; OLD is the config file without --config. 1 where they differ, 2 on an error
     --last TIME                 recordings of the last 24h, 7d; of the folder in OLD, unless --recorded names one
     --limit N                   the newest N of them; default 10000
     --slot ID=SCENARIO          what answers in place of a slot in both; default: an ordinary answer
     --texts                     print the texts of the first request of each kind, too
     --json                      the same as JSON
     --delete                    delete these recordings instead
  gw2api plugins [--config FILE] list the installed packages that bring plugins, and the plugins that a config loads
     --json                      the same as JSON
  gw2api docs [--config FILE]    print the options of the plugins that a config loads, as Markdown
     --schema                    print the JSON Schema of a config with them and all built-ins, for editors
  gw2api explain --body FILE     send a request through a dry run of a config, and print what each stage does with it, which
                                 slots are considered, what goes out and what its caller is told; nothing leaves the machine
     --post PATH                 default /v1/messages
     --as KEY                    name of its key, master, or none
     --key-limit NAME=AMOUNT     limit of that key: requestsPerMinute, tokensPerMinute, tokensPerDay, tokensPerMonth,
                                 usdPerDay, usdPerMonth
     --used NAME=AMOUNT          use of that limit, or of one in the config, when the request comes
     --team-limit, --team-used   the same for the team of that key
     --header 'name: value'      any number
     --slot SLOT=SCENARIO        what answers in place of a slot: a scenario of the simulator, such as '429 retry-after=2'
     --json                      the same as JSON
  gw2api new stage|format|upstream|account NAME
                                 write a plugin and its test, NAME.mjs and NAME.test.mjs
     --package                   in a folder of its own, as an npm package
     --ts                        in TypeScript
  gw2api backup FILE             copy the SQLite file of a config to a new file, also while a gateway writes to it
  gw2api restore FILE            put a backup in its place, while no gateway has it open; the file before it is kept
  gw2api rotate-secret           encrypt with GW_SECRET_KEY what GW_SECRET_KEY_OLD has encrypted, while gateways that have
                                 both serve; 1 where something stays under the old key

${configUsage}  --help          this text; after a command, its part
  --version       the version

Where the package is not installed, \`gw2api\` is \`node dist/server.js\`.

Environment: GW2API_API_KEY (master key), GW_SECRET_KEY (encrypts credentials in the store),
GW_SECRET_KEY_OLD (the one before it, read until rotate-secret has run), GW_PANEL_PASSWORD (opens the console; else the
master key does), GW_MAX_BODY, GW_CONFIG, PORT, HOST, GW_LOG_LEVEL, GW_LOG_FORMAT (pretty: lines for people in place of
JSON), GW_STRICT (1: stages are held to the state keys that they declare). A .env file in the working directory is read
first. SIGHUP reloads the config; SIGTERM finishes what is under way and ends.

Exit codes of the gateway: 0 ended by a signal, 1 the store or a plugin cannot be started, 2 the command line or the port,
78 the config is refused, as check does.
`;

/**
 * Runs the command line. Returns an exit code, or undefined while the gateway serves until a signal ends it; `exit`
 * ends a process that was refused.
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
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  if (values.help) return print(usageOf(positionals[0]));
  if (values.version) return print(`${version}\n`);
  const [word, ...rest] = positionals;
  const given = Object.keys(values);
  if (word === undefined) return serve(values, given);
  const known = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (!known) throw new UsageError(`"${word}" is not a command; see --help.`);
  refuseOthers(given, known.options);
  if (rest.length > known.words)
    throw new UsageError(`"${rest[known.words]}" is one word too many for ${word}; see --help.`);
  const { text, exitCode, note } = await known.run(values, rest);
  print(text);
  if (note !== undefined) process.stderr.write(`${note}\n`);
  return exitCode;
}

/** The part of the usage that is about a command; all of it for none, or one that there is not. */
function usageOf(word: string | undefined): string {
  const lines = usage.split('\n');
  const from = lines.findIndex((line) => line.startsWith(`  gw2api ${word ?? ''} `));
  if (word === undefined || from === -1) return usage;
  const length = lines.slice(from + 1).findIndex((line) => !line.startsWith('     '));
  const config =
    Object.hasOwn(commands, word) && commands[word]?.options.includes('config') ? configUsage : '';
  return `${lines.slice(from, from + 1 + length).join('\n')}\n${config && `\n${config}`}`;
}

async function serve(values: Values, given: readonly string[]): Promise<number | undefined> {
  refuseOthers(given, ['config']);
  const { serve } = await import('./serve.js');
  const file = await configFile(values);
  return serve(file).catch((error: unknown) => {
    throw startFailure(error);
  });
}

function refuseOthers(given: readonly string[], taken: readonly string[]): void {
  const other = given.find((name) => !taken.includes(name));
  if (other === undefined) return;
  const owners = Object.entries(commands).filter(([, { options }]) => options.some((name) => name === other));
  const names = new Intl.ListFormat('en-GB').format(owners.map(([name]) => name));
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
