import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadDotEnv } from '../config/environment.js';
import { name, version } from '../version.js';
import { failureOf, UsageError } from '../gateway/start-failure.js';

const usage = `${name} ${version}: an LLM gateway

  gw2api [--config FILE]         run the gateway
  gw2api check [--config FILE]   check a config and print the pipeline as it will run
     --online                    resolve its slots and ask them for their models, too; 1 where one fails, or where
                                 no slot knows a model of the catalog
  gw2api plugins [--config FILE] list the installed packages that bring plugins, and the plugins that a config loads
     --json                      the same as JSON
  gw2api docs [--config FILE]    print the options of the plugins that a config loads, as Markdown
     --schema                    print the JSON Schema of a config with them and all built-ins, for editors
  gw2api new stage|format|upstream|account NAME
                                 write a plugin and its test, NAME.mjs and NAME.test.mjs
     --package                   in a folder of its own, as an npm package
     --ts                        in TypeScript

  --config FILE   the config file; else GW_CONFIG, else config/gateway.yaml of the working directory, else the one
                  that the package brings, whose answers are made up
  --help          this text
  --version       the version

Where the package is not installed, \`gw2api\` is \`node dist/server.js\`.

Environment: GW2API_API_KEY (master key), GW_SECRET_KEY (encrypts credentials in the store), GW_PANEL_PASSWORD (opens
the console; else the master key does), GW_MAX_BODY, GW_CONFIG, PORT, HOST, GW_LOG_LEVEL, GW_STRICT (1: stages are
held to the state keys that they declare). A .env file in the working directory is read first. SIGHUP reloads the config; SIGTERM finishes what is under way and ends.
`;

/**
 * Runs the command line. Returns an exit code, or undefined while the gateway serves until a signal ends it.
 */
export async function main(args: readonly string[]): Promise<number | undefined> {
  try {
    return await command(args);
  } catch (error) {
    const failure = failureOf(parsed(error));
    if (!failure) throw error;
    process.stderr.write(`${failure.message}\n`);
    return failure.exitCode;
  }
}

async function command(args: readonly string[]): Promise<number | undefined> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  if (values.help) return print(usage);
  if (values.version) return print(`${version}\n`);
  const [word, ...rest] = positionals;
  const given = Object.keys(values);
  if (word === undefined) return serve(values, given);
  const known = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (!known) throw new UsageError(`"${word}" is not a command; see --help.`);
  refuseOthers(given, known.options);
  if (rest.length > known.words)
    throw new UsageError(`"${rest[known.words]}" is one word too many for ${word}; see --help.`);
  const { text, exitCode } = await known.run(values, rest);
  print(text);
  return exitCode;
}

const options = {
  config: { type: 'string' },
  online: { type: 'boolean' },
  json: { type: 'boolean' },
  package: { type: 'boolean' },
  ts: { type: 'boolean' },
  schema: { type: 'boolean' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const;

type Option = keyof typeof options;
type Values = Readonly<ReturnType<typeof parseArgs<{ options: typeof options }>>['values']>;

interface Command {
  /** Options that it takes. */
  readonly options: readonly Option[];
  /** Number of words that may follow it. */
  readonly words: number;
  run(values: Values, words: readonly string[]): Promise<{ readonly text: string; readonly exitCode: 0 | 1 }>;
}

const commands: Readonly<Record<string, Command>> = {
  check: {
    options: ['config', 'online'],
    words: 0,
    async run(values) {
      const { check } = await import('./check.js');
      return check(await configFile(values), process.env, values.online ?? false);
    },
  },
  docs: {
    options: ['config', 'schema'],
    words: 0,
    async run(values) {
      const { docs } = await import('./docs.js');
      return docs(await configFile(values), process.env, values.schema ?? false);
    },
  },
  new: {
    options: ['package', 'ts'],
    words: 2,
    async run({ package: isPackage = false, ts: isTypeScript = false }, words) {
      const { newPlugin } = await import('./new.js');
      const text = await newPlugin(words, process.cwd(), { isPackage, isTypeScript });
      return { text, exitCode: 0 };
    },
  },
  plugins: {
    options: ['config', 'json'],
    words: 0,
    async run(values) {
      const { plugins } = await import('./plugins.js');
      return plugins(await configFile(values), process.env, values.json ?? false);
    },
  },
};

async function serve(values: Values, given: readonly string[]): Promise<number | undefined> {
  refuseOthers(given, ['config']);
  const { serve } = await import('./serve.js');
  return serve(await configFile(values));
}

function refuseOthers(given: readonly string[], taken: readonly string[]): void {
  const other = given.find((name) => !taken.includes(name));
  if (other === undefined) return;
  const owners = Object.entries(commands).filter(([, { options }]) => options.some((name) => name === other));
  const names = owners.map(([name]) => name).join(' and ');
  throw new UsageError(`--${other} goes with ${names}; see --help.`);
}

/** The config file to use, once `.env` has been read. */
async function configFile({ config }: Values): Promise<string> {
  await loadDotEnv(process.cwd(), process.env).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`.env cannot be read (${error.code}); mend it or take it away.`);
  });
  return config ?? (process.env['GW_CONFIG'] || defaultConfigFile());
}

/** Default config file: `config/gateway.yaml` of the working directory, else that of this package. */
function defaultConfigFile(): string {
  const local = 'config/gateway.yaml';
  return existsSync(local) ? local : fileURLToPath(new URL(`../../${local}`, import.meta.url));
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
