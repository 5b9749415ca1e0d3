import { existsSync } from 'node:fs';
import path from 'node:path';
import { UsageError } from '../gateway/start-failure.js';
import { pluginKinds, type KindName } from '../engine/pipeline/load/listed-plugins.js';
import { builtinFolder, builtinNames } from '../engine/pipeline/load/import/resolve.js';
import { packageFile } from '../kit/package-files.js';
import { didYouMean } from '../kit/schema/did-you-mean.js';
import { packageName, release } from '../kit/version.js';
import { checkName, writeNew } from './new-files.js';
import { newRemote } from './new-remote.js';
import { account } from './templates/account.js';
import { format } from './templates/format.js';
import { stage } from './templates/stage.js';
import { fill, type Template } from './templates/template.js';
import { upstream } from './templates/upstream.js';

export interface NewOptions {
  /** A folder with a `package.json` instead of two files. */
  readonly isPackage: boolean;
  readonly isTypeScript: boolean;
  /** A server of remote stages in Python. */
  readonly isPython: boolean;
}

type PluginOptions = Omit<NewOptions, 'isPython'>;

const templates: Readonly<Record<KindName, Template>> = { stage, format, upstream, account };

/** Writes what the words name into a folder, and prints the next steps. Throws a UsageError, and then writes nothing. */
export async function writeKind(
  [kind = '', name = '']: readonly string[],
  cwd: string,
  { isPython, ...options }: NewOptions,
): Promise<string> {
  if (isPython && kind !== 'remote') throw new UsageError('--python goes with gw2api new remote NAME.');
  if (kind !== 'remote') return newPlugin([kind, name], cwd, options);
  if (options.isPackage || options.isTypeScript)
    throw new UsageError(`--${options.isPackage ? 'package' : 'ts'} goes with plugins, not with remote.`);
  return newRemote(name, cwd, isPython);
}

/** Writes a plugin and its test. */
async function newPlugin(
  [kind, name]: readonly [string, string],
  cwd: string,
  options: PluginOptions,
): Promise<string> {
  const template = templateOf(kind);
  checkName(kind, name);
  await checkFree(kind as KindName, name); // it has a template
  const files = options.isPackage
    ? packageFiles(name, template, { ...options, cwd })
    : plainFiles(name, template, options);
  const written = await writeNew(cwd, files);
  return [...written, ...nextSteps(kind as KindName, name, { ...options, cwd }), ''].join('\n');
}

function templateOf(kind: string): Template {
  if (Object.hasOwn(templates, kind)) return templates[kind as KindName];
  const kinds = [...Object.keys(templates), 'remote'];
  const meant = didYouMean(kind, kinds);
  const fault = kind === '' ? 'The kind of plugin is missing' : `"${kind}" is not a kind of plugin`;
  throw new UsageError(
    `${fault}; ${meant ? `did you mean "${meant}"?` : `write gw2api new ${kinds.join('|')} NAME.`}`,
  );
}

async function checkFree(kind: KindName, name: string): Promise<void> {
  if ((await builtinNames(builtinFolder, pluginKinds[kind].folder)).includes(name))
    throw new UsageError(`"${name}" is a built-in ${kind}; choose another name.`);
}

type Files = Readonly<Record<string, string>>;

/** Files of a plugin without a package: modules by their extension, independent of any `package.json` above them. */
function plainFiles(name: string, { plugin, test }: Template, { isTypeScript }: PluginOptions): Files {
  const ending = isTypeScript ? 'mts' : 'mjs';
  const filling = { name, module: `./${name}.mjs`, isTypeScript };
  return { [`${name}.${ending}`]: fill(plugin, filling), [`${name}.test.${ending}`]: fill(test, filling) };
}

interface Calling extends PluginOptions {
  readonly cwd: string;
}

function packageFiles(name: string, { plugin, test }: Template, { isTypeScript, cwd }: Calling): Files {
  const ending = isTypeScript ? 'ts' : 'js';
  const filling = { name, module: `./${name}.js`, isTypeScript };
  return {
    [`${name}/package.json`]: json(packageOf(name, path.join(cwd, name), isTypeScript)),
    ...(isTypeScript && { [`${name}/tsconfig.json`]: json(project) }),
    [`${name}/${name}.${ending}`]: fill(plugin, filling),
    [`${name}/${name}.test.${ending}`]: fill(test, filling),
  };
}

function packageOf(name: string, folder: string, isTypeScript: boolean): object {
  const mocha = `mocha ${name}.test.js`;
  return {
    name: `gw2api-${name}`,
    version: '0.1.0',
    type: 'module',
    keywords: ['gw2api-plugin'],
    exports: `./${name}.js`,
    files: [`${name}.js`],
    scripts: { test: isTypeScript ? `tsc && ${mocha}` : mocha, ...(isTypeScript && { prepack: 'tsc' }) },
    peerDependencies: { [packageName]: `^${release}` },
    devDependencies: {
      [packageName]: `file:${slashed(path.relative(folder, ownFolder))}`, // what it is tested with, also where no registry has it
      mocha: '^12.0.3',
      ...(isTypeScript && { '@types/mocha': '^10.0.10', '@types/node': '^20.19.43', typescript: '^7.0.2' }),
    },
  };
}

/** Folder of this package: installed, or a checkout. */
const ownFolder = packageFile('');

function slashed(file: string): string {
  return file.replaceAll(path.sep, '/').replace(/\/$/, '');
}

const project = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: ['node', 'mocha'],
  },
};

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

const listings: Readonly<Record<KindName, (use: string) => string>> = {
  stage: (use) => `under pipeline:  - use: ${use}`,
  format: (use) => `under formats:  - ${use}`,
  upstream: (use) => `in a slot:  upstream: ${use}`,
  account: (use) => `in a slot:  account: { kind: ${use} }`,
};

function nextSteps(
  kind: KindName,
  name: string,
  { isPackage, isTypeScript, cwd }: Calling,
): readonly string[] {
  const config = configNear(cwd);
  const folder = config === undefined ? cwd : path.dirname(config);
  const where = config === undefined ? 'a config of this folder' : slashed(path.relative(cwd, config));
  if (isPackage)
    return [
      `test it:  cd ${name} && npm install && npm test`,
      `install it for the config:  ${installation(name, cwd, folder)}`,
      `list it ${listings[kind](`gw2api-${name}`)}  (in ${where})`,
    ];
  const tsc =
    'npx tsc --ignoreConfig --module nodenext --target es2023 --strict --skipLibCheck --types node,mocha';
  const compile = isTypeScript ? [`compile it:  ${tsc} ${name}.test.mts`] : [];
  return [
    ...compile,
    `test it:  npx mocha ${name}.test.mjs  (needs: npm install ${packageName} mocha)`,
    `list it ${listings[kind](pathFrom(folder, path.join(cwd, `${name}.mjs`)))}  (in ${where})`,
  ];
}

/** Command that installs a package of `cwd` so that a config in `folder` finds it: there, or above. */
function installation(name: string, cwd: string, folder: string): string {
  if (!path.relative(cwd, folder).startsWith('..')) return `npm install ./${name}`;
  return `cd ${slashed(path.relative(cwd, folder))} && npm install ${pathFrom(folder, path.join(cwd, name))}`;
}

/** A path as a config and npm take it: `./x.mjs`, `../x.mjs`. */
function pathFrom(folder: string, file: string): string {
  const relative = slashed(path.relative(folder, file));
  return relative.startsWith('..') ? relative : `./${relative}`;
}

/** Config file of the project that a folder belongs to: `gateway.yaml` in it, above it, or in `config/` there. */
function configNear(folder: string): string | undefined {
  const found = ['config/gateway.yaml', 'gateway.yaml']
    .map((file) => path.join(folder, file))
    .find((file) => existsSync(file));
  const above = path.dirname(folder);
  return found ?? (above === folder ? undefined : configNear(above));
}
