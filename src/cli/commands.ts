import type { Verb, Verbs } from '../features/feature.js';
import { features } from '../features/index.js';
import { UsageError } from '../gateway/start-failure.js';
import { readDotEnv } from './config-file.js';
import type { InitArguments } from './init/choice.js';
import { refuseUnsendable } from './sent-secrets.js';

/** Option that names the config file. */
interface ConfigFile {
  readonly config?: string;
}

/** Commands about the process; the others belong to their features. */
const own: Verbs = {
  init: verb<InitArguments>({
    usage: `  gw2api init                    write a config for a provider, its tests and .env; asks at a terminal
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
`,
    options: {
      provider: 'text',
      'key-env': 'text',
      'base-url': 'text',
      set: 'texts',
      model: 'texts',
      port: 'text',
      folder: 'text',
      add: 'flag',
      force: 'flag',
      'no-test': 'flag',
      online: 'flag',
    },
    words: 0,
    async run({ values, env }) {
      const { stdin: input, stdout: output } = process;
      const { init } = await import('./init.js');
      return init(values, env, input.isTTY && output.isTTY ? { input, output } : undefined);
    },
  }),
  check: verb<
    ConfigFile & { readonly online?: boolean; readonly test?: boolean; readonly pipeline?: string }
  >({
    usage: `  gw2api check [--config FILE]   check a config and print the pipeline as it will run
     --online                    resolve its slots and ask them for their models, too; 1 where one fails, or where
                                 no slot knows a model of the catalog
     --test                      run its tests, too; 1 where one fails
     --pipeline NAME             print a named pipeline with all its stages: + added, ~ changed, - removed
`,
    options: { config: 'text', online: 'flag', test: 'flag', pipeline: 'text' },
    words: 0,
    async run({ values: { config, online = false, test = false, pipeline }, env, configFile }) {
      const file = await configFile(config);
      const { check } = await import('./check.js');
      refuseUnsendable(env, 1);
      return check(file, env, online, { isTested: test, ...(pipeline !== undefined && { pipeline }) });
    },
  }),
  doctor: verb<
    ConfigFile & { readonly online?: boolean; readonly 'no-test'?: boolean; readonly json?: boolean }
  >({
    usage: `  gw2api doctor                  look for anything that would prevent a gateway from serving here, and change nothing; 1 if there is
                                 something
     --online                    resolve its slots and ask them, and call each once as a caller would, for at most
                                 16 tokens
     --no-test                   without these calls
     --json                      the same as JSON
`,
    options: { config: 'text', online: 'flag', 'no-test': 'flag', json: 'flag' },
    words: 0,
    async run({ values, env, configFile }) {
      const {
        config,
        online: isOnline = false,
        'no-test': skipsCalls = false,
        json: isJson = false,
      } = values;
      const { doctor } = await import('./doctor.js');
      return doctor(await configFile(config), env, { isOnline, skipsCalls, isJson });
    },
  }),
  diff: verb<{ readonly json?: boolean }>({
    usage: `  gw2api diff OLD NEW            compare two config files: what would change, and what needs a restart; 1 where they differ
     --json                      the same as JSON
`,
    options: { json: 'flag' },
    words: 2,
    async run({ values: { json: isJson = false }, words: [before, after], env, isColoured }) {
      if (before === undefined || after === undefined)
        throw new UsageError('diff takes two config files, OLD and NEW; see --help.');
      await readDotEnv();
      const { diff } = await import('./diff.js');
      return diff([before, after], env, { isJson, isColoured });
    },
  }),
  plugins: verb<ConfigFile & { readonly json?: boolean }>({
    usage: `  gw2api plugins [--config FILE] list the installed packages that bring plugins, and the plugins that a config loads
     --json                      the same as JSON
`,
    options: { config: 'text', json: 'flag' },
    words: 0,
    async run({ values: { config, json = false }, env, configFile }) {
      const { plugins } = await import('./plugins.js');
      return plugins(await configFile(config), env, json);
    },
  }),
  docs: verb<ConfigFile & { readonly schema?: boolean }>({
    usage: `  gw2api docs [--config FILE]    print the options of the plugins that a config loads, as Markdown
     --schema                    print the JSON Schema of a config with them and all built-ins, for editors
`,
    options: { config: 'text', schema: 'flag' },
    words: 0,
    async run({ values: { config, schema = false }, env, configFile }) {
      const { docs } = await import('./docs.js');
      return docs(await configFile(config), env, schema);
    },
  }),
  new: verb<{ readonly package?: boolean; readonly ts?: boolean; readonly python?: boolean }>({
    usage: `  gw2api new stage|format|upstream|account NAME
                                 write a plugin and its test, NAME.mjs and NAME.test.mjs
     --package                   in a folder of its own, as an npm package
     --ts                        in TypeScript
  gw2api new remote NAME         write a server of remote stages, NAME.mjs
     --python                    in Python, NAME.py
`,
    options: { package: 'flag', ts: 'flag', python: 'flag' },
    words: 2,
    async run({ values, words }) {
      const { package: isPackage = false, ts: isTypeScript = false, python: isPython = false } = values;
      const { writeKind } = await import('./new.js');
      return {
        text: await writeKind(words, process.cwd(), { isPackage, isTypeScript, isPython }),
        exitCode: 0,
      };
    },
  }),
  'test-remote': verb<{ readonly secret?: string; readonly insecure?: boolean; readonly json?: boolean }>({
    usage: `  gw2api test-remote URL         check a server of remote stages by questions of all kinds; 1 where a check fails
     --secret SECRET             the secret of the stage; without it no question is signed, and the checks of
                                 signatures are left out
     --insecure                  allow http beyond this machine
     --json                      the same as JSON
`,
    options: { secret: 'text', insecure: 'flag', json: 'flag' },
    words: 1,
    async run({ values: { secret, insecure: isInsecure = false, json: isJson = false }, words: [url] }) {
      const { testRemote } = await import('./test-remote.js');
      return testRemote(url, { secret, isInsecure, isJson });
    },
  }),
  backup: verb<ConfigFile>({
    usage: `  gw2api backup FILE             copy the SQLite file of a config to a new file, also while a gateway writes to it
`,
    options: { config: 'text' },
    words: 1,
    async run({ values: { config }, words: [to], env, configFile }) {
      const file = await configFile(config);
      return (await import('./backup.js')).backup(to, file, env);
    },
  }),
  restore: verb<ConfigFile>({
    usage: `  gw2api restore FILE            put a backup in its place, while no gateway has it open; the file before it is kept
`,
    options: { config: 'text' },
    words: 1,
    async run({ values: { config }, words: [from], env, configFile }) {
      const file = await configFile(config);
      return (await import('./backup.js')).restore(from, file, env);
    },
  }),
  'rotate-secret': verb<ConfigFile>({
    usage: `  gw2api rotate-secret           encrypt with GW_SECRET_KEY what GW_SECRET_KEY_OLD has encrypted, while gateways that have
                                 both serve; 1 where something stays under the old key
`,
    options: { config: 'text' },
    words: 0,
    async run({ values: { config }, env, configFile }) {
      const file = await configFile(config);
      return (await import('./rotate-secret.js')).rotateSecret(file, env);
    },
  }),
};

/** All commands by their word, in the order of the usage. */
export const commands: Verbs = inOrder(features.map(({ verbs = {} }) => verbs));

function inOrder(ofFeatures: readonly Verbs[]): Verbs {
  const others = ofFeatures.flatMap((verbs) => Object.entries(verbs));
  const first = Object.entries(own).flatMap((entry) => [
    entry,
    ...others.filter(([, { after }]) => after === entry[0]),
  ]);
  return Object.fromEntries([...first, ...others]);
}

function verb<Values extends object>(verb: Verb<Values>): Verb<Values> {
  return verb;
}
