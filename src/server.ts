#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ConfigError, formatProblem, type Config } from './config/config.js';
import { loadDotEnv } from './config/dotenv.js';
import { warningsOf } from './config/warnings.js';
import { keepMasterKey, masterKeyOf, secretKeyOf, welcome } from './first-start.js';
import { Gateway } from './gateway.js';
import { loadGatewayConfigFile } from './load-gateway-config.js';
import { describePipeline } from './pipeline/describe.js';
import type { Logger } from './plugin/index.js';
import { createLogger, logLevels, standardOutput } from './telemetry/logs.js';
import { name, version } from './version.js';

const usage = `${name} ${version}: an LLM gateway

  gw2api [--config FILE]         run the gateway
  gw2api check [--config FILE]   check a config and print the pipeline as it will run

  --config FILE   the config file; else GW_CONFIG, else config/gateway.yaml of the working directory, else the one
                  that the package brings, whose answers are made up
  --help          this text
  --version       the version

Where the package is not installed, \`gw2api\` is \`node dist/server.js\`.

Environment: GW2API_API_KEY (master key), GW_SECRET_KEY (encrypts credentials in the store), GW_PANEL_PASSWORD (opens
the console; else the master key does), GW_MAX_BODY, GW_CONFIG, PORT, HOST, GW_LOG_LEVEL. A .env file in the working directory is read first. SIGHUP reloads the config; SIGTERM
finishes what is under way and ends.
`;

/** What helps where the config file cannot be read. */
const otherFile = 'name another by --config FILE or GW_CONFIG';

/** What the command line or the environment got wrong: exit code 2 and no stack trace. */
class UsageError extends Error {}

const quiet = { log: createLogger('silent'), masterKey: '' };

const exitCode = await main(process.argv.slice(2));
// Without a code the process serves until a signal ends it.
if (exitCode !== undefined) process.exitCode = exitCode;

async function main(args: readonly string[]): Promise<number | undefined> {
  try {
    return await command(args);
  } catch (error) {
    if (!(error instanceof ConfigError) && !isUsageError(error)) throw error;
    process.stderr.write(`${explain(error)}\n`);
    return error instanceof ConfigError ? 1 : 2;
  }
}

async function command(args: readonly string[]): Promise<number | undefined> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { config: { type: 'string' }, help: { type: 'boolean' }, version: { type: 'boolean' } },
  });
  if (values.help) return print(usage);
  if (values.version) return print(`${version}\n`);
  const unknown = positionals.find((word) => word !== 'check') ?? positionals[1];
  if (unknown !== undefined) throw new UsageError(`"${unknown}" is not a command; see --help.`);
  await loadDotEnv(process.cwd(), process.env).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`.env cannot be read (${error.code}); mend it or take it away.`);
  });
  const file = values.config ?? (process.env['GW_CONFIG'] || defaultConfigFile());
  return positionals[0] === 'check' ? check(file) : serve(file);
}

async function check(file: string): Promise<number> {
  const config = await loadGatewayConfigFile(file, process.env, otherFile);
  // Without its store and without others: to check a config makes no file, and asks no server.
  const alone: Config = { ...config, store: { kind: 'memory' }, live: { kind: 'memory' } };
  const gateway = await Gateway.create(alone, { ...quiet, loadConfig: () => Promise.resolve(config) });
  const text = describePipeline(config, gateway.pipeline);
  await gateway.close();
  const warnings = warningsOf(config).map((warning) => `\nwarning: ${formatProblem(warning)}`);
  return print(`${text}${warnings.join('')}${warnings.length > 0 ? '\n' : ''}`);
}

async function serve(file: string): Promise<undefined> {
  const { env } = process;
  const output = standardOutput();
  process.on('exit', () => output.flush());
  const log = createLogger(logLevelOf(env['GW_LOG_LEVEL']), output);
  const loadConfig = () => loadGatewayConfigFile(file, env, otherFile);
  const config = await loadConfig();
  const { masterKey, isNew } = masterKeyOf(env);
  const secretKey = secretKeyOf(process.cwd(), env);
  const gateway = await Gateway.create(config, {
    log,
    masterKey,
    loadConfig,
    secretKey,
    panelPassword: env['GW_PANEL_PASSWORD'] ?? '',
  });
  onSignals(gateway);
  onLostErrors(log);
  const url = await gateway.listen().catch((error: unknown) => {
    throw new UsageError(listenProblem(error, config.listen));
  });
  const { pid } = process;
  log.info({ url, config: file, slots: config.slots.length, version, pid }, 'The gateway is listening.');
  if (config.store.kind !== 'memory' && !(await secretKey()))
    log.warn({}, 'GW_SECRET_KEY is not set and .env cannot be written: the store can keep no credentials.');
  if (isNew) await introduce(url, masterKey, gateway);
}

/** Only now: a start that fails must not leave a key behind that nobody has been shown. */
async function introduce(url: string, masterKey: string, { models }: Gateway): Promise<void> {
  const file = await keepMasterKey(process.cwd(), masterKey);
  print(welcome(url, { masterKey, file }, models.list()[0]?.id ?? 'sonnet-5'));
}

function onSignals(gateway: Gateway): void {
  let isClosing = false;
  const stop = (signal: NodeJS.Signals) => {
    if (isClosing) process.exit(1); // asked twice: now
    isClosing = true;
    gateway.log.info({ signal }, 'Shutting down.');
    void gateway.close().then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => {
    gateway.reload().catch((error: unknown) => {
      const problem = error instanceof ConfigError ? { problems: error.message.split('\n') } : { err: error };
      gateway.log.error(problem, 'The config was not taken; the old one keeps running.');
    });
  });
}

/** A plugin that forgets to await fails one request at most, and not the process with all others in it. */
function onLostErrors(log: Logger): void {
  process.on('unhandledRejection', (error) => {
    log.error({ err: error }, 'Nobody has caught this error; a stage may lack an await.');
  });
}

/** `config/gateway.yaml` of the working directory, else the one of this package. */
function defaultConfigFile(): string {
  const local = 'config/gateway.yaml';
  return existsSync(local) ? local : fileURLToPath(new URL(`../${local}`, import.meta.url));
}

function logLevelOf(level: string | undefined): string {
  if (!level) return 'info';
  if (logLevels.some((known) => known === level)) return level;
  throw new UsageError(`GW_LOG_LEVEL must be one of ${logLevels.join(', ')}, not "${level}".`);
}

function listenProblem(error: unknown, { host, port }: { host: string; port: number }): string {
  const code = (error as NodeJS.ErrnoException).code ?? ''; // what a listen error has
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another process listens there; stop it or set another port (PORT=8788)',
    EACCES: 'that port needs more rights; take one above 1023 (PORT=8787)',
    EADDRNOTAVAIL: 'this machine has no such address; set HOST=0.0.0.0 for all of them',
  };
  return `Cannot listen on ${host}:${port}: ${reasons[code] ?? String(error)}.`;
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

function isUsageError(error: unknown): error is Error {
  return error instanceof UsageError || (error instanceof Error && isParseError(error));
}

function isParseError(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

/** Of what parseArgs says the first sentence: the second one is about arguments that we do not have. */
function explain(error: Error): string {
  return isParseError(error) ? `${error.message.replace(/\.( .*)?$/s, '')}; see --help.` : error.message;
}
