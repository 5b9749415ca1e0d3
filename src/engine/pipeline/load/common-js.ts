import { createRequire } from 'node:module';
import path from 'node:path';
import { isWithin, PluginFiles } from './plugin-files.js';

/** Version that a CommonJS module of a plugin had when it was loaded, and the plugin's folder. */
interface Loaded {
  readonly root: string;
  readonly version: string;
}

const loaded = new WeakMap<NodeJS.Module, Loaded>();

/**
 * Loads the edited CommonJS modules of a plugin again: Node's cache has them by their path, whatever the query of
 * their URL says.
 */
export function reloadEdited(file: string): void {
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
export function markLoaded(file: string): void {
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
