import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { didYouMean } from '../plugin/index.js';
import { packageScheme } from './plugin-hook.js';

/** Folder of the built-in plugins, compiled. */
export const builtinFolder = fileURLToPath(new URL('../plugins/', import.meta.url));

/** Search locations of modules. */
export interface ResolveOptions {
  /** The config's folder. */
  readonly baseDir: string;
  /** A folder of built-in modules, named for them. */
  readonly builtins: string;
}

/**
 * Imports a module named in the config: a path (relative to the config; reloaded if the file changes), a
 * built-in, or an npm package of the config's folder or of gw2api. Throws an Error whose message continues
 * its name.
 */
export async function importModule(use: string, { baseDir, builtins }: ResolveOptions): Promise<object> {
  if (isPath(use)) return importFile(path.resolve(baseDir, use), use);
  const names = await builtinNames(builtins);
  if (names.includes(use)) return load(pathToFileURL(path.join(builtins, `${use}.js`)).href, use);
  return importPackage(use, baseDir, names);
}

/** The built-in modules of a folder, as a config names them. */
export async function builtinNames(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder);
  return files.filter((file) => file.endsWith('.js')).map((file) => path.basename(file, '.js'));
}

function isPath(use: string): boolean {
  return use.startsWith('./') || use.startsWith('../') || path.isAbsolute(use);
}

async function importFile(file: string, use: string): Promise<object> {
  const stats = await stat(file).catch(() => undefined);
  if (!stats?.isFile()) throw new Error(`is not there${await hint(file)}`);
  if (/\.[cm]?ts$/.test(file)) throw new Error(typeScript(use));
  // A CommonJS module is kept under its path whatever its query says.
  delete createRequire(file).cache[file];
  await import('./install-hook.js');
  return load(`${pathToFileURL(file).href}?mtime=${stats.mtimeMs}`, use);
}

function typeScript(use: string): string {
  const compiled = path.basename(use).replace(/ts$/, 'js');
  return `is TypeScript, which Node does not load: compile it and list ${compiled}`;
}

async function hint(file: string): Promise<string> {
  const there = await readdir(path.dirname(file)).catch(() => []);
  const siblings = there.filter((name) => !/\.[cm]?ts$/.test(name));
  const meant =
    siblings.find((name) => name === `${path.basename(file)}.js`) ??
    didYouMean(path.basename(file), siblings);
  return meant ? `; did you mean "${meant}"?` : '; paths start at the folder of the config file';
}

async function importPackage(use: string, baseDir: string, builtins: readonly string[]): Promise<object> {
  await import('./install-hook.js');
  const config = pathToFileURL(path.join(baseDir, 'config')).href;
  return load(`${packageScheme}${config}#${encodeURIComponent(use)}`, use, () => {
    const meant = didYouMean(use, builtins);
    const cure = meant ? `did you mean "${meant}"?` : `install it, or write "./${use}.js" for a file`;
    return `is neither a built-in nor an installed npm package; ${cure}`;
  });
}

async function load(specifier: string, use: string, notInstalled?: () => string): Promise<object> {
  try {
    return (await import(specifier)) as object; // a module namespace
  } catch (error) {
    const { message, code } =
      error instanceof Error ? (error as NodeJS.ErrnoException) : { message: String(error), code: '' };
    if (notInstalled && code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${packageName(use)}'`))
      throw new Error(notInstalled(), { cause: error });
    throw new Error(`cannot be loaded: ${message.split('\n')[0]}`, { cause: error });
  }
}

/** `@koa/cors` of `@koa/cors/sub`. */
function packageName(use: string): string {
  return use.split('/', use.startsWith('@') ? 2 : 1).join('/');
}
