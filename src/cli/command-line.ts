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

  --config FILE   the config file; else GW_CONFIG, else config/gateway.yaml of the working directory, else the one
                  that the package brings, whose answers are made up
  --help          this text
  --version       the version

Where the package is not installed, \`gw2api\` is \`node dist/server.js\`.

Environment: GW2API_API_KEY (master key), GW_SECRET_KEY (encrypts credentials in the store), GW_PANEL_PASSWORD (opens
the console; else the master key does), GW_MAX_BODY, GW_CONFIG, PORT, HOST, GW_LOG_LEVEL. A .env file in the working
directory is read first. SIGHUP reloads the config; SIGTERM finishes what is under way and ends.
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
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      online: { type: 'boolean' },
      help: { type: 'boolean' },
      version: { type: 'boolean' },
    },
  });
  if (values.help) return print(usage);
  if (values.version) return print(`${version}\n`);
  const unknown = positionals.find((word) => word !== 'check') ?? positionals[1];
  if (unknown !== undefined) throw new UsageError(`"${unknown}" is not a command; see --help.`);
  await loadDotEnv(process.cwd(), process.env).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`.env cannot be read (${error.code}); mend it or take it away.`);
  });
  const file = values.config ?? (process.env['GW_CONFIG'] || defaultConfigFile());
  const { online: isOnline = false } = values;
  if (positionals[0] === 'check') {
    const { check } = await import('./check.js');
    const { text, exitCode } = await check(file, process.env, isOnline);
    print(text);
    return exitCode;
  }
  if (isOnline) throw new UsageError('--online goes with check; see --help.');
  return (await import('./serve.js')).serve(file);
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
