import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { isWithin, PluginFiles } from '../import/plugin-files.js';
import { hashFile, hashPackage } from './package-files.js';

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
 * else of the file alone. Throws an Error for code that no such hash covers.
 */
export async function integrityOf(file: string): Promise<Integrity> {
  const real = await realpath(file);
  const folder = packageFolder(real);
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

/** A file that the plugin imports by a relative path from outside of what is hashed. */
function importedOutside(file: string, folder: string | undefined): string | undefined {
  const imported = new PluginFiles().list(file, path.parse(file).root).slice(1);
  const outside = imported.find((one) => folder === undefined || !isWithin(one, folder));
  return outside && path.relative(path.dirname(file), outside);
}
