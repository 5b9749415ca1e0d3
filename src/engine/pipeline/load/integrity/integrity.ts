import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { PluginFiles } from '../import/plugin-files.js';
import { hashFile, hashPackage, isHashed } from './package-files.js';

/** Hash of a plugin's code, as `integrity` of its entry has it. */
export interface Integrity {
  /** `sha256-…`, in base64. */
  readonly hash: string;
  /** Folder of its package; the file itself, if it belongs to none. */
  readonly root: string;
  /** The plugin's file, links followed. */
  readonly file: string;
}

/** Hashes that are being computed, so that entries of one package share one. */
const running = new Map<string, Promise<string>>();

/**
 * Hash of the files of the package that a plugin's file belongs to: those of the nearest folder with a `package.json`,
 * else of the file alone. Throws an Error for code that no such hash covers, and for a package that has the folder of
 * the config, `configDir`: a hash in the config would change what it is a hash of.
 */
export async function integrityOf(file: string, configDir?: string): Promise<Integrity> {
  const real = await realpath(file);
  const folder = packageFolder(real);
  if (folder !== undefined && configDir !== undefined && isHashed(await realOf(configDir), folder))
    throw new Error(hasConfig);
  const outside = importedOutside(real, folder);
  if (outside !== undefined)
    throw new Error(
      `imports ${outside}, which ${folder === undefined ? 'the hash of one file' : 'its package'} does not cover; move both into a folder with a package.json`,
    );
  const root = folder ?? real;
  const hashing = running.get(root) ?? hashOf(real, folder).finally(() => running.delete(root));
  running.set(root, hashing);
  return { hash: `sha256-${await hashing}`, root, file: real };
}

/** The path with its links followed; of a folder that is not there the path itself. */
function realOf(folder: string): Promise<string> {
  return realpath(folder).catch(() => folder);
}

const hasConfig = 'its package also has the config; give the plugin a folder with a package.json of its own';

/** Nearest folder with a `package.json`; undefined: there is none. */
function packageFolder(file: string): string | undefined {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'package.json'))) return folder;
    if (folder === path.dirname(folder)) return undefined;
  }
}

async function hashOf(file: string, folder: string | undefined): Promise<string> {
  if (folder === undefined) return hashFile(file);
  const hash = createHash('sha256');
  for (const { name, digest } of await hashPackage(folder)) hash.update(`${name}\0${digest}\n`);
  return hash.digest('base64');
}

/** Max files of a plugin whose imports are followed. */
const maxImporting = 1000;

/** A file that the plugin imports by a relative path from outside of what is hashed, by its path from the plugin's. */
function importedOutside(file: string, folder: string | undefined): string | undefined {
  const files = new PluginFiles();
  const found = new Set([file]);
  for (const one of found)
    for (const imported of files.importsOf(one)) {
      if (folder === undefined || !isHashed(imported, folder))
        return path.relative(path.dirname(file), imported);
      if (found.size < maxImporting) found.add(imported);
    }
  return undefined;
}
