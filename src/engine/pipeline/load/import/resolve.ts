import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { programFile } from '../../../../kit/package-files.js';
import { didYouMean } from '../../../../kit/schema/did-you-mean.js';
import { importFault } from './import-fault.js';
import { importFile } from './import-file.js';
import { packageScheme } from './plugin-hook.js';

/** Folder of the built-in plugins, compiled. */
export const builtinFolder = programFile('plugins/');

/** Search locations of modules. */
export interface ResolveOptions {
  /** The config's folder. */
  readonly baseDir: string;
  /** The folder of the built-in plugins: stages, and a folder within it for each other kind. */
  readonly builtins: string;
}

/**
 * Imports a module named in the config: a path (relative to the config; reloaded if the file changes), a
 * built-in of the kind that has its built-ins in `folder`, or an npm package of the config's folder or of
 * gw2api. Throws an Error whose message continues its name.
 */
export async function importModule(
  use: string,
  { baseDir, builtins }: ResolveOptions,
  folder = '',
): Promise<object> {
  if (isPath(use)) return importFile(path.resolve(baseDir, use), baseDir);
  const known = await builtinFiles(builtins, folder);
  const file = known.get(use);
  if (file) return load(pathToFileURL(file).href, use, baseDir);
  return importPackage(use, baseDir, [...known.keys()]);
}

/** File of a module named in the config. Throws if it does not exist. */
export async function moduleFile(
  use: string,
  { baseDir, builtins }: ResolveOptions,
  folder = '',
): Promise<string> {
  if (isPath(use)) return path.resolve(baseDir, use);
  const file = (await builtinFiles(builtins, folder)).get(use);
  if (file) return file;
  await import('./install-hook.js');
  return fileURLToPath(import.meta.resolve(packageSpecifier(use, baseDir)));
}

/** False for the name of a built-in plugin of a kind. */
export async function isFromOutside(
  use: string,
  { builtins }: Pick<ResolveOptions, 'builtins'>,
  folder = '',
): Promise<boolean> {
  return isPath(use) || !(await builtinFiles(builtins, folder)).has(use);
}

/** The built-in plugins of a kind, as a config names them. */
export async function builtinNames(builtins: string, folder = ''): Promise<readonly string[]> {
  return [...(await builtinFiles(builtins, folder)).keys()];
}

/** Files of this package's own folders, which do not change while it runs. */
const known = new Map<string, Promise<ReadonlyMap<string, string>>>();

/** The built-in plugins in a folder, by name. */
function builtinFiles(builtins: string, folder: string): Promise<ReadonlyMap<string, string>> {
  const root = path.join(builtins, folder);
  if (builtins !== builtinFolder) return pluginFiles(root);
  const files = known.get(root) ?? pluginFiles(root);
  known.set(root, files);
  return files;
}

/** `NAME.js` or `NAME/index.js` by name; `shared/` is code that several of them use. */
async function pluginFiles(root: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
  const files = new Map<string, string>();
  for (const entry of entries) {
    const index = path.join(root, entry.name, 'index.js');
    if (entry.name.endsWith('.js')) files.set(path.basename(entry.name, '.js'), path.join(root, entry.name));
    else if (entry.name !== 'shared' && entry.isDirectory() && existsSync(index))
      files.set(entry.name, index);
  }
  return files;
}

/** True for a name in the config that is a path. */
export function isPath(use: string): boolean {
  return use.startsWith('./') || use.startsWith('../') || path.isAbsolute(use);
}

async function importPackage(use: string, baseDir: string, builtins: readonly string[]): Promise<object> {
  await import('./install-hook.js');
  return load(packageSpecifier(use, baseDir), use, baseDir, () => {
    const meant = didYouMean(use, builtins);
    const cure = meant ? `did you mean "${meant}"?` : `install it, or write "./${use}.js" for a file`;
    return `is neither a built-in nor an installed npm package; ${cure}`;
  });
}

function packageSpecifier(use: string, baseDir: string): string {
  const config = pathToFileURL(path.join(baseDir, 'config')).href;
  return `${packageScheme}${config}#${encodeURIComponent(use)}`;
}

async function load(
  specifier: string,
  use: string,
  baseDir: string,
  notInstalled?: () => string,
): Promise<object> {
  try {
    return (await import(specifier)) as object; // a module namespace
  } catch (error) {
    if (notInstalled && isMissing(error, packageName(use))) throw new Error(notInstalled(), { cause: error });
    const file = resolvedFile(specifier);
    throw new Error(`cannot be loaded: ${await importFault(error, file, baseDir)}`, { cause: error });
  }
}

/** Undefined for a module that cannot be resolved at all. */
function resolvedFile(specifier: string): string | undefined {
  try {
    return fileURLToPath(import.meta.resolve(specifier));
  } catch {
    return undefined; // the import has failed by the same error
  }
}

function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !error.message.includes(`'${name}'`)) return false;
  return 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}

/** `@koa/cors` of `@koa/cors/sub`. */
function packageName(use: string): string {
  return use.split('/', use.startsWith('@') ? 2 : 1).join('/');
}
