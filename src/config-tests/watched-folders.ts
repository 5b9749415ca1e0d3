import { watch } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../config/config.js';
import type { Environment } from '../config/environment.js';
import { readConfig, readConfigFile } from '../config/load.js';
import { SecretPlaceholders } from '../dry/placeholders.js';
import { findTests, type TestSelection } from './find-tests.js';

/** Max folders that are watched. */
const maxFolders = 64;

/** Time in which further changes are one with the first. */
const debounceMs = 100;

/** Folders of the files that tests depend on: of their configs, the local plugins of these, and of the tests. */
export async function foldersOf(selection: TestSelection, env: Environment): Promise<readonly string[]> {
  const configs = await configsOf(selection);
  const used = await Promise.all(configs.map((config) => filesOf(config, env)));
  const files = [...configs, ...selection.files, ...used.flat()];
  const folders = files.map((file) => path.dirname(path.resolve(file)));
  const all = new Set([...folders, ...selection.files.map((file) => path.resolve(file))]);
  return [...all].slice(0, maxFolders);
}

/** The config, and those that files of tests name; the config alone while the tests cannot be read. */
async function configsOf(selection: TestSelection): Promise<readonly string[]> {
  try {
    const found = await findTests(selection);
    return [...new Set([selection.config, ...found.map(({ config }) => config)])];
  } catch (error) {
    if (error instanceof ConfigError) return [selection.config];
    throw error;
  }
}

/** Local plugins of a config; none where it cannot be read. */
async function filesOf(config: string, env: Environment): Promise<readonly string[]> {
  try {
    const input = await readConfigFile(config, env);
    const { pipeline, formats, slots, baseDir } = readConfig({
      ...input,
      placeholders: new SecretPlaceholders(),
    });
    const uses = [
      ...pipeline.map(({ use }) => use),
      ...formats.map(({ use }) => use),
      ...slots.map(({ upstream }) => upstream),
    ];
    const accounts = slots.flatMap(({ account }) => (account ? [account.kind] : []));
    return [...uses, ...accounts]
      .filter((use) => /^\.{0,2}\//.test(use))
      .map((use) => path.resolve(baseDir, use));
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
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

/** A watcher of a folder; none for what is not there. */
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
