import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { loadDotEnv } from '../config/environment.js';
import { UsageError } from '../gateway/start-failure.js';
import { refuseUnsendable, trimSecrets } from './sent-secrets.js';

/** Options of the command line, for `parseArgs`. */
export const options = {
  against: { type: 'string' },
  recorded: { type: 'string' },
  last: { type: 'string' },
  limit: { type: 'string' },
  texts: { type: 'boolean' },
  delete: { type: 'boolean' },
  config: { type: 'string' },
  online: { type: 'boolean' },
  test: { type: 'boolean' },
  json: { type: 'boolean' },
  package: { type: 'boolean' },
  ts: { type: 'boolean' },
  schema: { type: 'boolean' },
  body: { type: 'string' },
  post: { type: 'string' },
  as: { type: 'string' },
  header: { type: 'string', multiple: true },
  slot: { type: 'string', multiple: true },
  'key-limit': { type: 'string', multiple: true },
  used: { type: 'string', multiple: true },
  'team-limit': { type: 'string', multiple: true },
  'team-used': { type: 'string', multiple: true },
  junit: { type: 'boolean' },
  ci: { type: 'boolean' },
  update: { type: 'boolean' },
  watch: { type: 'boolean' },
  provider: { type: 'string' },
  'key-env': { type: 'string' },
  'base-url': { type: 'string' },
  set: { type: 'string', multiple: true },
  model: { type: 'string', multiple: true },
  add: { type: 'boolean' },
  'no-test': { type: 'boolean' },
  port: { type: 'string' },
  folder: { type: 'string' },
  force: { type: 'boolean' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const;

type Option = keyof typeof options;
/** Values of the options that are given. */
export type Values = Readonly<ReturnType<typeof parseArgs<{ options: typeof options }>>['values']>;

interface CommandResult {
  readonly text: string;
  readonly exitCode: 0 | 1 | 2;
  /** Line on stderr, beside the text, which programs may read. */
  readonly note?: string;
}

interface Command {
  /** Options that it takes. */
  readonly options: readonly Option[];
  /** Number of words that may follow it. */
  readonly words: number;
  run(values: Values, words: readonly string[]): Promise<CommandResult>;
}

/** Commands by their word. */
export const commands: Readonly<Record<string, Command>> = {
  backup: {
    options: ['config'],
    words: 1,
    async run(values, [to]) {
      const file = await configFile(values);
      const { backup } = await import('./backup.js');
      return backup(to, file, process.env);
    },
  },
  restore: {
    options: ['config'],
    words: 1,
    async run(values, [from]) {
      const file = await configFile(values);
      const { restore } = await import('./backup.js');
      return restore(from, file, process.env);
    },
  },
  check: {
    options: ['config', 'online', 'test'],
    words: 0,
    async run(values) {
      const { check } = await import('./check.js');
      const file = await configFile(values);
      refuseUnsendable(process.env, 1);
      return check(file, process.env, values.online ?? false, values.test ?? false);
    },
  },
  diff: {
    options: ['json'],
    words: 2,
    async run({ json: isJson = false }, [before, after]) {
      if (before === undefined || after === undefined)
        throw new UsageError('diff takes two config files, OLD and NEW; see --help.');
      await readDotEnv();
      const { diff } = await import('./diff.js');
      return diff([before, after], process.env, { isJson, isColoured: isColoured() });
    },
  },
  doctor: {
    options: ['config', 'online', 'no-test', 'json'],
    words: 0,
    async run(values) {
      const { online: isOnline = false, 'no-test': skipsCalls = false, json: isJson = false } = values;
      const { doctor } = await import('./doctor.js');
      return doctor(await configFile(values), process.env, { isOnline, skipsCalls, isJson });
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
  explain: {
    options: [
      'config',
      'body',
      'post',
      'as',
      'header',
      'slot',
      'key-limit',
      'used',
      'team-limit',
      'team-used',
      'json',
    ],
    words: 0,
    async run(values) {
      const file = await configFile(values);
      expectShortRun();
      const { explainCommand } = await import('../features/explain/verb/command.js');
      const { openGateway } = await import('../features/open.js');
      const {
        body,
        post = '/v1/messages',
        as,
        header: headers = [],
        slot: slots = [],
        'key-limit': limits = [],
        used = [],
        'team-limit': teamLimits = [],
        'team-used': teamUsed = [],
        json: isJson = false,
      } = values;
      const isColoured = process.stdout.isTTY && !process.env['NO_COLOR'];
      const request = { body, post, as, headers, slots, limits, used, teamLimits, teamUsed };
      return explainCommand(file, process.env, { ...request, isJson, isColoured }, openGateway);
    },
  },
  init: {
    options: [
      'provider',
      'key-env',
      'base-url',
      'set',
      'model',
      'port',
      'folder',
      'add',
      'force',
      'no-test',
      'online',
    ],
    words: 0,
    async run(values) {
      const { stdin: input, stdout: output } = process;
      const { init } = await import('./init.js');
      return init(values, process.env, input.isTTY && output.isTTY ? { input, output } : undefined);
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
  replay: {
    options: ['config', 'against', 'recorded', 'last', 'limit', 'slot', 'texts', 'delete', 'json'],
    words: 0,
    async run({ config, against, ...values }) {
      if (config === undefined && against === undefined && !values.delete)
        throw new UsageError(
          'replay takes the config to compare as --config NEW or --against OLD; see --help.',
        );
      const inForce = await configFile({});
      const { replayRecorded } = await import('../features/replay/verb/command.js');
      const { openGateway } = await import('../features/open.js');
      const files = { new: config ?? inForce, old: against ?? inForce };
      return replayRecorded({ ...values, ...files }, process.env, openGateway);
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
  'rotate-secret': {
    options: ['config'],
    words: 0,
    async run(values) {
      const file = await configFile(values);
      const { rotateSecret } = await import('./rotate-secret.js');
      return rotateSecret(file, process.env);
    },
  },
  test: {
    options: ['config', 'json', 'junit', 'ci', 'update', 'watch', 'schema'],
    words: Infinity,
    async run(values, files) {
      const { schema, json: isJson, junit: isJunit, ci, update, watch } = values;
      if (isJson && isJunit)
        throw new UsageError('--json and --junit are two forms of one output; keep one.');
      expectShortRun();
      const { test, testSchema } = await import('../features/tests/verb/command.js');
      if (schema) return { text: testSchema(), exitCode: 0 };
      const selection = { files, config: await configFile(values), isNamed: values.config !== undefined };
      const { openGateway } = await import('../features/open.js');
      const flags = {
        form: isJson ? 'json' : isJunit ? 'junit' : 'text',
        isCi: ci ?? false,
        isUpdate: update ?? false,
        isWatch: watch ?? false,
        isColoured: isColoured(),
      } as const;
      return test(selection, process.env, flags, openGateway);
    },
  },
};

/**
 * Has V8 wait longer before it optimizes a function: in a run of a second or two that costs more than it saves. Hot
 * loops are optimized still. The V8 of Node 20 alone has the flag; others would complain about it.
 */
function expectShortRun(): void {
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=1000000');
}

/** True for a terminal that may have colours. */
function isColoured(): boolean {
  return process.stdout.isTTY && !process.env['NO_COLOR'];
}

/** The config file to use, once `.env` has been read. */
export async function configFile({ config }: Values): Promise<string> {
  await readDotEnv();
  return config ?? (process.env['GW_CONFIG'] || defaultConfigFile());
}

async function readDotEnv(): Promise<void> {
  await loadDotEnv(process.cwd(), process.env).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`.env cannot be read (${error.code}); mend it or take it away.`);
  });
  trimSecrets(process.env);
}

/** Default config file: `config/gateway.yaml` of the working directory, else that of this package. */
function defaultConfigFile(): string {
  const local = 'config/gateway.yaml';
  return existsSync(local) ? local : fileURLToPath(new URL(`../../${local}`, import.meta.url));
}
