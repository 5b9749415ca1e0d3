import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { repository, treeOf } from './outputs.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly type: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
}

/** Sources of the public modules of the package by the specifiers of their imports. */
export function publicModules(): Readonly<Record<string, string>> {
  const manifest = manifestOf('');
  return Object.fromEntries(
    Object.entries(manifest.exports).flatMap(([subpath, target]) =>
      typeof target === 'string' ? [] : [[`${manifest.name}${subpath.slice(1)}`, sourceOf(target.default)]],
    ),
  );
}

/** Sources of all modules that are started, or loaded by a path, by their names in `dist`. */
export async function entries(): Promise<Readonly<Record<string, string>>> {
  const sources = [
    ...Object.values(publicModules()),
    ...['src/server.ts', 'plugins/upstreams/simulator/main.ts'].map((file) => join(repository, file)),
    ...(await loadedByPath()),
    ...(await builtins()),
  ];
  const named = sources.map((source) => [nameOf(source), source]);
  const packageFiles = sourceOf('./dist/kit/package-files.js'); // at a fixed depth
  return { ...Object.fromEntries(named), ...typeboxEntries(), 'chunks/package-files': packageFiles };
}

/** TypeBox and its subpaths, for plugins that have none of their own (`#typebox` of package.json). */
function typeboxEntries(): Readonly<Record<string, string>> {
  const subpaths = Object.keys(manifestOf('node_modules/typebox').exports).map((path) => path.slice(2));
  return Object.fromEntries(
    subpaths.map((path) =>
      path === '' ? ['typebox/index', 'typebox'] : [`typebox/${path}`, `typebox/${path}`],
    ),
  );
}

/** The manifest of a folder of this checkout: the package, or one in `node_modules`. */
export function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(repository, folder, 'package.json'), 'utf8')) as Manifest; // what these packages have
}

function nameOf(source: string): string {
  return relative(repository, source)
    .replaceAll('\\', '/')
    .replace(/^src\//, '')
    .replace(/\.ts$/, '');
}

/** Source of a module of `dist`. */
function sourceOf(module: string): string {
  const stem = module.replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts');
  return join(repository, stem.startsWith('plugins/') ? stem : `src/${stem}`);
}

/** Modules that the program finds by `programUrl` or `programFile`. */
export async function loadedByPath(): Promise<readonly string[]> {
  const files = await treeOf(join(repository, 'src'));
  const sources = files.filter((file) => file.endsWith('.ts'));
  return sources.flatMap((file) =>
    Array.from(
      readFileSync(file, 'utf8').matchAll(/\bprogram(?:Url|File)\(\s*'([^']+\.js)'/g),
      ([, path = '']) => sourceOf(path),
    ),
  );
}

/** Built-in plugins of all kinds, as a config names them: `NAME.ts` or `NAME/index.ts`. */
async function builtins(): Promise<readonly string[]> {
  const plugins = join(repository, 'plugins');
  const kinds = new Set(['formats', 'upstreams', 'accounts']);
  const isBuiltin = (path: string): boolean => {
    const [first = '', second = '', third] = path.replaceAll('\\', '/').split('/');
    if (!kinds.has(first))
      return second === '' ? first.endsWith('.ts') : first !== 'shared' && second === 'index.ts';
    return third === undefined ? second.endsWith('.ts') : second !== 'shared' && third === 'index.ts';
  };
  return (await treeOf(plugins)).filter((file) => existsSync(file) && isBuiltin(relative(plugins, file)));
}
