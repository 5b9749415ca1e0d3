import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { StageConfig } from '../../../config/config.js';
import type { ConfigReading } from '../../../config/load.js';
import { allStages } from '../../../config/rules.js';
import { isRecord } from '../../../kit/schema/record.js';
import { formatKind } from './format-kind.js';
import { loadPlugin, type Loadable, type Loading, type PluginKind } from './load-plugin.js';
import { builtinNames, moduleFile } from './import/resolve.js';
import { accountKind, upstreamKind } from './slot-kinds.js';
import { stageKind } from './stage-kind.js';

/** Every kind of plugin, by its name in commands and messages. */
export const pluginKinds = {
  stage: stageKind,
  format: formatKind,
  upstream: upstreamKind,
  account: accountKind,
} as const satisfies Readonly<Record<string, PluginKind<Loadable>>>;

export type KindName = keyof typeof pluginKinds;

/** A plugin that a config names, once for each kind. */
export interface ListedPlugin {
  readonly kind: KindName;
  /** Name in the config. */
  readonly use: string;
  readonly name: string;
  /** JSON Schema of its options; empty if it could not be loaded. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Level of the plugin API that it was written for. */
  readonly api?: number;
  /** Version of the package that its file belongs to. */
  readonly version?: string;
  readonly file?: string;
  /** The reason why it could not be loaded, phrased to follow its name. */
  readonly problem?: string;
}

/** Loads the plugins that a config names, enabled stages alone. Returns faults, never throws them. */
export function listPlugins(config: ConfigReading, where: Loading): Promise<readonly ListedPlugin[]> {
  const stages = allStages(config).filter(({ enabled }) => enabled);
  const uses: Readonly<Record<KindName, readonly string[]>> = {
    stage: stages.map(({ use }) => use),
    format: config.formats.map(({ use }) => use),
    upstream: config.slots.map(({ upstream }) => upstream),
    account: config.slots.map(({ account }) => account?.kind ?? 'none'),
  };
  const each = kindNames.flatMap((kind) =>
    [...new Set(uses[kind])].map((use) => listPlugin(kind, use, where, kind === 'stage' ? stages : [])),
  );
  return Promise.all(each);
}

/** Loads a plugin; one that every entry of its name isolates only in a child process. */
async function load(
  kind: KindName,
  use: string,
  where: Loading,
  stages: readonly StageConfig[],
): Promise<Loadable> {
  const own = stages.filter((stage) => stage.use === use);
  const [first] = own;
  if (!first?.isolation || own.some(({ isolation }) => !isolation))
    return loadPlugin<Loadable>(pluginKinds[kind], use, where);
  const { loadIsolatedPlugin } = await import('./load-isolated.js');
  return loadIsolatedPlugin(use, first.isolation, { ...where, baseDir: first.baseDir ?? where.baseDir });
}

/** All built-ins of every kind. */
export async function builtinPlugins(where: Loading): Promise<readonly ListedPlugin[]> {
  const each = kindNames.map(async (kind) => {
    const names = await builtinNames(where.builtins, pluginKinds[kind].folder);
    return Promise.all(names.toSorted().map((name) => listPlugin(kind, name, where)));
  });
  return (await Promise.all(each)).flat();
}

const kindNames = Object.keys(pluginKinds) as readonly KindName[]; // its own keys

async function listPlugin(
  kind: KindName,
  use: string,
  where: Loading,
  stages: readonly StageConfig[] = [],
): Promise<ListedPlugin> {
  const { folder } = pluginKinds[kind];
  try {
    const { name, options, api } = await load(kind, use, where, stages);
    const file = await moduleFile(use, where, folder);
    const version = packageOf(file)?.version;
    return { kind, use, name, options, file, ...(api && { api }), ...(version !== undefined && { version }) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { kind, use, name: use, options: {}, problem };
  }
}

/** The fields of a `package.json` that identify a package. */
export interface PackageInfo {
  readonly name: string;
  readonly version?: string;
  readonly keywords: readonly unknown[];
  readonly peers: Readonly<Record<string, unknown>>;
}

/** The package that a file belongs to: the nearest `package.json` above it that has a name. */
function packageOf(file: string): PackageInfo | undefined {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const found = readPackage(folder);
    if (found || folder === path.dirname(folder)) return found;
  }
}

/** The package in a folder; undefined without a readable one. */
export function readPackage(folder: string): PackageInfo | undefined {
  const file = path.join(folder, 'package.json');
  if (!existsSync(file)) return undefined;
  const fields = parsed(readFileSync(file, 'utf8'));
  if (!isRecord(fields) || typeof fields['name'] !== 'string') return undefined;
  const { name, version, keywords, peerDependencies: peers } = fields;
  return {
    name,
    ...(typeof version === 'string' && { version }),
    keywords: Array.isArray(keywords) ? keywords : [],
    peers: isRecord(peers) ? peers : {},
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // another program's file: if it cannot be read, it is not a plugin
  }
}
