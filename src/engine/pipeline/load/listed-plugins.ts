import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { IsolationConfig } from '../../../config/config.js';
import type { ConfigReading } from '../../../config/load.js';
import { allStages } from '../../../config/rules.js';
import type { Plugin } from '../../../plugin/index.js';
import { isRecord } from '../../../kit/schema/record.js';
import { formatKind } from './format-kind.js';
import { accountEntry } from './load-slots.js';
import {
  loadPlugin,
  pluginTimeoutMs,
  type Loadable,
  type Loading,
  type PluginEntry,
  type PluginKind,
} from './load-plugin.js';
import { integrityFault, type PinnedPlugin } from './integrity/integrity-fault.js';
import { builtinNames, isFromOutside, isPath, moduleFile } from './import/resolve.js';
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
  /** True for one that runs in a child process. */
  readonly isolated: boolean;
  /** False for one that is a part of the gateway. */
  readonly isOutside: boolean;
  /** Keys of the state that a stage provides and seals. */
  readonly provides?: readonly string[];
  readonly seals?: readonly string[];
  /** The reason why it could not be loaded, phrased to follow its name. */
  readonly problem?: string;
}

/** A place in a config that names a plugin. */
export interface NamedPlugin extends PluginEntry {
  readonly kind: KindName;
  /** Folder in which its paths start; absent: that of the config. */
  readonly baseDir?: string;
  /** Settings of its child process, which alone imports it; absent: it has none. */
  readonly isolation?: IsolationConfig | undefined;
}

/** Places in a config that name plugins, those of enabled stages alone. */
export function namedPlugins(config: ConfigReading): readonly NamedPlugin[] {
  return [
    ...allStages(config)
      .filter(({ enabled }) => enabled)
      .map((stage) => ({ kind: 'stage' as const, ...stage })),
    ...config.formats.map((format) => ({ kind: 'format' as const, ...format })),
    ...config.slots.map((slot) => ({
      kind: 'upstream' as const,
      ...slot,
      use: slot.upstream,
      usePath: ['upstream'],
    })),
    ...config.slots.map(({ integrity: _, ...slot }) => ({
      kind: 'account' as const,
      ...slot,
      ...accountEntry(slot),
      usePath: ['account', 'kind'],
      withPath: ['account'],
    })),
  ];
}

/** Loads the plugins that a config names, each once. Returns faults, never throws them. */
export function listPlugins(config: ConfigReading, where: Loading): Promise<readonly ListedPlugin[]> {
  const each = new Map(
    namedPlugins(config).map((named) => {
      const { kind, use, baseDir = '', integrity = '', isolation } = named;
      const place = isPath(use) ? baseDir : '';
      return [JSON.stringify([kind, use, place, integrity, isolation !== undefined]), named] as const;
    }),
  );
  return Promise.all([...each.values()].map((named) => listPlugin(named, where)));
}

/** All built-ins of every kind. */
export async function builtinPlugins(where: Loading): Promise<readonly ListedPlugin[]> {
  const each = kindNames.map(async (kind) => {
    const names = await builtinNames(where.builtins, pluginKinds[kind].folder);
    return Promise.all(names.toSorted().map((use) => listPlugin({ kind, use }, where)));
  });
  return (await Promise.all(each)).flat();
}

const kindNames = Object.keys(pluginKinds) as readonly KindName[]; // its own keys

type ListedKey = 'kind' | 'use' | 'baseDir' | 'integrity' | 'isolation';

async function listPlugin(
  { kind, use, baseDir, integrity, isolation }: Pick<NamedPlugin, ListedKey>,
  given: Loading,
): Promise<ListedPlugin> {
  const { folder } = pluginKinds[kind];
  const where = { ...given, ...(baseDir !== undefined && { baseDir }) };
  const isOutside = await isFromOutside(use, where, folder);
  const isolated = isolation !== undefined;
  const listed = { kind, use, name: use, options: {}, isOutside, isolated };
  try {
    if (integrity !== undefined) await requireIntegrity({ use, integrity }, where, folder);
    const plugin = await load({ kind, use, isolation }, where);
    return { ...listed, ...fieldsOf(plugin), ...versionOf(await moduleFile(use, where, folder)) };
  } catch (error) {
    return { ...listed, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Loads a plugin; an isolated one only in a child process. */
async function load(
  { kind, use, isolation }: Pick<NamedPlugin, 'kind' | 'use' | 'isolation'>,
  where: Loading,
): Promise<Loadable & StageFields> {
  if (!isolation) return loadPlugin<Loadable & StageFields>(pluginKinds[kind], use, where);
  const { loadIsolatedPlugin } = await import('./load-isolated.js');
  return loadIsolatedPlugin(use, isolation, where);
}

/** Throws an Error, phrased to follow the name of a plugin whose code has another hash. */
async function requireIntegrity(pinned: PinnedPlugin, where: Loading, folder: string): Promise<void> {
  const fault = await integrityFault(pinned, where, folder, where.timeoutMs ?? pluginTimeoutMs);
  if (fault !== undefined) throw new Error(`has an integrity that ${fault}`);
}

type StageFields = Partial<Pick<Plugin, 'provides' | 'seals'>>;

function fieldsOf({ name, options, api, provides, seals }: Loadable & StageFields) {
  return { name, options, ...(api && { api }), ...(provides && { provides }), ...(seals && { seals }) };
}

function versionOf(file: string) {
  const version = packageOf(file)?.version;
  return { file, ...(version !== undefined && { version }) };
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
