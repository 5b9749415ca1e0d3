import { watch } from 'node:fs';
import path from 'node:path';
import { ConfigError, type PipelineConfig } from '../../../config/config.js';
import { readWritten } from '../../../config/document.js';
import type { Environment } from '../../../config/environment.js';
import { readConfig, readConfigFile, type ConfigInput, type ConfigReading } from '../../../config/load.js';
import { allStages } from '../../../config/rules.js';
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
  const pipelines = await pipelinesOf(selection, env);
  const { configs, tests, bodies } = await filesOfTests(selection, pipelines);
  const used = await Promise.all(configs.map((config) => filesOf(config, env, listPlugin)));
  const files = [...configs, ...selection.files, ...tests, ...bodies, ...used.flat()];
  const folders = files.map((file) => path.dirname(path.resolve(file)));
  const all = new Set([...folders, ...selection.files.map((file) => path.resolve(file))]);
  return [...all].slice(0, maxFolders);
}

interface FilesOfTests {
  readonly configs: readonly string[];
  /** Files of tests beside the configs, and those that pipelines list. */
  readonly tests: readonly string[];
  readonly bodies: readonly string[];
}

/** The config, and files that tests name; only what the config names while the tests cannot be read. */
async function filesOfTests(
  selection: TestSelection,
  pipelines: readonly PipelineConfig[],
): Promise<FilesOfTests> {
  const tests = pipelines.flatMap((pipeline) => pipeline.tests);
  try {
    const found = await findTests(selection, pipelines);
    const configs = [...new Set([selection.config, ...found.map(({ config }) => config)])];
    return { configs, tests, bodies: found.flatMap(({ bodyFiles }) => bodyFiles) };
  } catch (error) {
    if (error instanceof ConfigError) return { configs: [selection.config], tests, bodies: [] };
    throw error;
  }
}

/** Named pipelines of the config whose tests run, as far as it can be read. */
async function pipelinesOf(
  { config, files }: TestSelection,
  env: Environment,
): Promise<readonly PipelineConfig[]> {
  if (files.length > 0) return [];
  const input = await inputOf(config, env);
  return input ? readConfig(input).pipelines : [];
}

/** Catalog, pipelines and local plugins of a config, with the files that these name; none if it cannot be read. */
async function filesOf(file: string, env: Environment, listPlugin: ListPlugin): Promise<readonly string[]> {
  const input = await inputOf(file, env);
  if (!input) return [];
  const config = readConfig(input);
  const { models } = Object(readWritten(input.text)) as { readonly models?: unknown }; // any object has properties
  const catalog = typeof models === 'string' ? [path.resolve(config.baseDir, models)] : [];
  const plugins = pluginsOf(config).flatMap((plugin) => [plugin, ...listPlugin(plugin)]);
  return [...catalog, ...config.pipelineFiles, ...plugins];
}

/** Undefined for a file that cannot be read. */
async function inputOf(file: string, env: Environment): Promise<ConfigInput | undefined> {
  try {
    return { ...(await readConfigFile(file, env)), placeholders: new SecretPlaceholders() };
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Absolute paths of the local plugins of a config. */
function pluginsOf(config: ConfigReading): readonly string[] {
  const { formats, slots, baseDir } = config;
  const uses = [
    ...allStages(config).map(({ use, baseDir: own = baseDir }) => ({ use, from: own })),
    ...formats.map(({ use }) => ({ use, from: baseDir })),
    ...slots.flatMap(({ upstream, account }) =>
      [upstream, ...(account ? [account.kind] : [])].map((use) => ({ use, from: baseDir })),
    ),
  ];
  return uses.flatMap(({ use, from }) => (/^\.{0,2}\//.test(use) ? [path.resolve(from, use)] : []));
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
