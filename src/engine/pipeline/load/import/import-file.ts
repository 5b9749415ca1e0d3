import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { readdir, realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { didYouMean } from '../../../../kit/schema/did-you-mean.js';
import { isRecord } from '../../../../kit/schema/record.js';
import { importFault } from './import-fault.js';
import { PluginUrls } from './plugin-urls.js';
import { isWithin, PluginFiles } from './plugin-files.js';

/**
 * Imports a plugin by its path, as it is on disk with all its imports from its folder. Node keeps every loaded version
 * until the process ends.
 */
export async function importFile(file: string, baseDir: string): Promise<object> {
  const stats = await stat(file).catch(() => undefined);
  if (!stats?.isFile()) throw new Error(`is not there${await hint(file)}`);
  if (/\.[cm]?ts$/.test(file) && !stripsTypes()) throw new Error(noTypeScript(file));
  await import('./install-hook.js');
  const real = await realpath(file);
  try {
    return await importVersion(real);
  } catch (error) {
    throw new Error(`cannot be loaded: ${await importFault(error, real, baseDir)}`, { cause: error });
  }
}

/** Imports a file in its present version; retries a failure that Node has cached. */
async function importVersion(file: string): Promise<object> {
  const urls = new PluginUrls();
  reloadEdited(file);
  try {
    return (await import(urls.entry(file))) as object; // a module namespace
  } catch (error) {
    if (!isKept(error)) throw error;
    return (await import(urls.entry(file, randomUUID()))) as object;
  } finally {
    markLoaded(file);
  }
}

const failures = new WeakSet();

/** True for an error that was thrown before: Node keeps modules that have failed, with their error. */
function isKept(error: unknown): boolean {
  if (!isRecord(error)) return false;
  const isKnown = failures.has(error);
  failures.add(error);
  return isKnown;
}

/** True if Node loads TypeScript by stripping its types: 22.18 and later. */
function stripsTypes(): boolean {
  return 'typescript' in process.features && Boolean(process.features.typescript);
}

function noTypeScript(file: string): string {
  const name = path.basename(file);
  const compiled = name.replace(/ts$/, 'js');
  const compile = `npx tsc --ignoreConfig --module nodenext --target es2023 --skipLibCheck ${name}`;
  const fault = `is TypeScript, which Node ${process.versions.node} does not load`;
  return `${fault}: compile it with \`${compile}\` and list ${compiled}, or run Node 22.18 or later`;
}

async function hint(file: string): Promise<string> {
  const there = await readdir(path.dirname(file)).catch(() => []);
  const siblings = there.filter((name) => stripsTypes() || !/\.[cm]?ts$/.test(name));
  const meant =
    siblings.find((name) => name === `${path.basename(file)}.js`) ??
    didYouMean(path.basename(file), siblings);
  return meant ? `; did you mean "${meant}"?` : '; paths are relative to the folder of the config file';
}

/** Version that a CommonJS module of a plugin had when it was loaded, and the plugin's folder. */
interface Loaded {
  readonly root: string;
  readonly version: string;
}

const loaded = new WeakMap<NodeJS.Module, Loaded>();

/**
 * Reloads the edited CommonJS modules of a plugin: Node caches them by their path, ignoring the query of their URL.
 */
function reloadEdited(file: string): void {
  const files = new PluginFiles();
  const modules = modulesBeside(file);
  const isEdited = (module: NodeJS.Module): boolean => {
    const known = loaded.get(module);
    return known !== undefined && files.version(module.filename, known.root) !== known.version;
  };
  const edited = modules.filter(isEdited);
  if (edited.length === 0) return;
  // A module that was required late has no version; it may be one of those edited.
  const late = modules.filter((module) => !loaded.has(module));
  const require = createRequire(file);
  for (const { filename } of [...edited, ...late]) delete require.cache[filename];
  // An import would give a half loaded module to those that require it by a path that Node has resolved before.
  const used = new Set(files.list(file, path.dirname(file)));
  for (const { filename } of edited) if (used.has(filename)) attempt(() => require(filename));
}

/** Ignores errors: the import that follows throws them again. */
function attempt(load: () => unknown): void {
  try {
    load();
  } catch {
    return;
  }
}

/** Keeps the versions of the CommonJS modules that a plugin has loaded. */
function markLoaded(file: string): void {
  const root = path.dirname(file);
  const files = new PluginFiles();
  for (const module of modulesBeside(file))
    if (!loaded.has(module)) loaded.set(module, { root, version: files.version(module.filename, root) });
}

/** Cached CommonJS modules of a plugin's folder; the cache also has ES modules that were required, without a file. */
function modulesBeside(file: string): readonly NodeJS.Module[] {
  const { cache } = createRequire(file);
  const names = Object.keys(cache).filter(
    (name) => path.isAbsolute(name) && isWithin(name, path.dirname(file)),
  );
  return names.flatMap((name) => cache[name] ?? []).filter(({ filename }) => typeof filename === 'string');
}
