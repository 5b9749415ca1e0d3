import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { formerPackageName, packageName } from '../../../kit/version.js';
import { readPackage } from './listed-plugins.js';

/** An npm package that brings plugins. */
export interface InstalledPlugin {
  readonly name: string;
  readonly version: string;
  /** Supported versions of this package, as a range. */
  readonly peer: string;
  readonly folder: string;
}

/**
 * Packages with the keyword `gw2api-plugin` and this package as their peer, that modules in a folder can import: those of
 * its `node_modules` and of the folders above it, the nearest of each name.
 */
export async function installedPlugins(from: string): Promise<readonly InstalledPlugin[]> {
  const found = new Map<string, InstalledPlugin | undefined>();
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    const names = await packageNames(path.join(folder, 'node_modules'));
    for (const name of names)
      if (!found.has(name)) found.set(name, pluginIn(name, path.join(folder, 'node_modules', name)));
    if (folder === path.dirname(folder)) break;
  }
  const plugins = [...found.values()].filter((plugin) => plugin !== undefined);
  return plugins.toSorted((a, b) => a.name.localeCompare(b.name));
}

async function packageNames(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const scopes = names.filter((name) => name.startsWith('@'));
  const scoped = scopes.map(async (scope) =>
    (await readdir(path.join(folder, scope)).catch(() => [])).map((name) => `${scope}/${name}`),
  );
  return [...names.filter((name) => !/^[.@]/.test(name)), ...(await Promise.all(scoped)).flat()];
}

function pluginIn(name: string, folder: string): InstalledPlugin | undefined {
  const { keywords = [], peers = {}, version = '' } = readPackage(folder) ?? {};
  const peer = peers[packageName] ?? peers[formerPackageName];
  if (!keywords.includes('gw2api-plugin') || typeof peer !== 'string') return undefined;
  return { name, version, peer, folder };
}
