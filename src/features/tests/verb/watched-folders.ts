import { watch } from 'node:fs';
import path from 'node:path';
import { ConfigError, type Config, type SlotPluginsConfig } from '../../../config/config.js';
import { readWritten } from '../../../config/document.js';
import type { Environment } from '../../../config/environment.js';
import { readConfig, readConfigFile } from '../../../config/load.js';
import { SecretPlaceholders } from '../../dry-run/placeholders.js';
import { findTests, type TestSelection } from '../find-tests.js';

/** Max folders that are watched. */
export const maxFolders = 64;

/** Time in which further changes belong to the first. */
const debounceMs = 100;

/** Lists a local plugin with the files that it imports. */
export type ListPlugin = (file: string) => readonly string[];

/**
 * Folders of the files that tests depend on: those of the tests and their bodies, of their configs and catalogs, and of
 * their local plugins with their imports.
 */
export async function foldersOf(
  selection: TestSelection,
  env: Environment,
  listPlugin: ListPlugin,
): Promise<readonly string[]> {
  const { configs, bodies } = await filesOfTests(selection);
  const used = await Promise.all(configs.map((config) => filesOf(config, env, listPlugin)));
  const files = [...configs, ...selection.files, ...bodies, ...used.flat()];
  const folders = files.map((file) => path.dirname(path.resolve(file)));
  const all = new Set([...folders, ...selection.files.map((file) => path.resolve(file))]);
  return [...all].slice(0, maxFolders);
}

interface FilesOfTests {
  readonly configs: readonly string[];
  readonly bodies: readonly string[];
}

/** The config, and files that tests name; only the config while the tests cannot be read. */
async function filesOfTests(selection: TestSelection): Promise<FilesOfTests> {
  try {
    const found = await findTests(selection);
    const configs = [...new Set([selection.config, ...found.map(({ config }) => config)])];
    return { configs, bodies: found.flatMap(({ bodyFiles }) => bodyFiles) };
  } catch (error) {
    if (error instanceof ConfigError) return { configs: [selection.config], bodies: [] };
    throw error;
  }
}

/** Catalog and local plugins of a config; none if it cannot be read. */
async function filesOf(file: string, env: Environment, listPlugin: ListPlugin): Promise<readonly string[]> {
  try {
    const input = await readConfigFile(file, env);
    const config = readConfig({ ...input, placeholders: new SecretPlaceholders() });
    const { models } = Object(readWritten(input.text)) as { readonly models?: unknown }; // any object has properties
    const plugins = pluginsOf(config).map((use) => path.resolve(config.baseDir, use));
    const catalog = typeof models === 'string' ? [path.resolve(config.baseDir, models)] : [];
    return [...catalog, ...plugins.flatMap((plugin) => [plugin, ...listPlugin(plugin)])];
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

/** Paths of local plugins, as a config names them. */
function pluginsOf({
  pipeline,
  formats,
  slots,
}: Pick<Config, 'pipeline' | 'formats'> & {
  readonly slots: readonly SlotPluginsConfig[];
}): readonly string[] {
  const uses = [
    ...pipeline.map(({ use }) => use),
    ...formats.map(({ use }) => use),
    ...slots.flatMap(({ upstream, account }) => [upstream, ...(account ? [account.kind] : [])]),
  ];
  return uses.filter((use) => /^\.{0,2}\//.test(use));
}

/** Resolves when a file of configs, tests or plugins changes in one of these folders, or the signal aborts. */
export async function changeIn(folders: readonly string[], signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const watchers = folders.flatMap((folder) =>
      watcherOf(folder, () => (timer ??= setTimeout(end, debounceMs))),
    );
    const end = (): void => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

/** A watcher of a folder; none if it does not exist. */
function watcherOf(folder: string, onChange: () => void): readonly ReturnType<typeof watch>[] {
  try {
    const watcher = watch(folder, (_, name) => {
      if (name === null || /\.(?:ya?ml|json|[cm]?[jt]s|env)$/.test(name)) onChange();
    });
    return [watcher.on('error', onChange)];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
