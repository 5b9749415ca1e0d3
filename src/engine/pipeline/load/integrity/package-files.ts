import { createReadStream } from 'node:fs';
import { createHash } from 'node:crypto';
import { readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** Max files of a package that are hashed, and max bytes of all of them. */
export const maxFiles = 5000;
const maxBytes = 64 * 2 ** 20;

/** Folders that are no part of a package: its dependencies, and the history of its repository. */
const leftOut: ReadonlySet<string> = new Set(['node_modules', '.git']);

/** Hash of a file or of the target of a link, by its path within the package, with `/`. */
export interface HashedFile {
  readonly name: string;
  readonly digest: string;
}

/**
 * Hashes the files of a package, in the order of their paths, without `node_modules` and `.git`. Throws an Error for a
 * package that is too large, and for a link that leaves it.
 */
export async function hashPackage(root: string): Promise<readonly HashedFile[]> {
  const budget = new ByteBudget();
  const hashed: HashedFile[] = [];
  for (const { name, kind } of await listFiles(root)) {
    const digest =
      kind === 'link' ? `link ${sha256(await linkTarget(root, name))}` : await budget.digest(root, name);
    hashed.push({ name, digest });
  }
  return hashed;
}

/** Base64 of the SHA-256 of one file. Throws an Error for one that is too large. */
export function hashFile(file: string): Promise<string> {
  return new ByteBudget().digest(path.dirname(file), path.basename(file), 'base64');
}

interface ListedFile {
  readonly name: string;
  readonly kind: 'file' | 'link';
}

/** Files and links below a folder, sorted by their paths. */
async function listFiles(root: string): Promise<readonly ListedFile[]> {
  const found: ListedFile[] = [];
  const folders = [''];
  for (const folder of folders) {
    const entries = await readdir(path.join(root, folder), { withFileTypes: true });
    for (const entry of entries) {
      if (leftOut.has(entry.name)) continue;
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(name);
      else if (entry.isSymbolicLink()) found.push({ name, kind: 'link' });
      else if (entry.isFile()) found.push({ name, kind: 'file' });
      else throw new Error(`has ${name}, which is neither a file nor a folder`);
    }
    if (found.length + folders.length > maxFiles)
      throw new Error(`has more than ${maxFiles} files and folders; ${cure}`);
  }
  return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

const cure = 'give the plugin a folder of its own with a package.json';

/** Path within the package that a link leads to; its files are hashed at their own place. */
async function linkTarget(root: string, name: string): Promise<string> {
  const target = await realpath(path.join(root, name)).catch(() => undefined);
  if (target === undefined) throw new Error(`has the link ${name}, which leads nowhere`);
  if (!isHashed(target, root))
    throw new Error(`has the link ${name}, which leads out of the package, where nothing is hashed`);
  return path.relative(root, target).split(path.sep).join('/');
}

/** Hex SHA-256 of a text, which may have line breaks itself. */
function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** True for a file or a folder that the hash of a package covers. */
export function isHashed(file: string, root: string): boolean {
  const parts = path.relative(root, file).split(path.sep);
  const isWithin = parts[0] !== '..' && !path.isAbsolute(parts.join(path.sep));
  return isWithin && !parts.some((part) => leftOut.has(part));
}

/** Hashes files as long as they have no more than `maxBytes` together, also while one grows. */
class ByteBudget {
  #left = maxBytes;

  async digest(root: string, name: string, encoding: 'hex' | 'base64' = 'hex'): Promise<string> {
    const file = path.join(root, name);
    const { size } = await stat(file);
    this.#spend(size, name);
    const hash = createHash('sha256');
    let read = 0;
    for await (const chunk of createReadStream(file)) {
      const bytes = chunk as Buffer; // of a stream without an encoding
      read += bytes.length;
      if (read > size) this.#spend(bytes.length, name);
      hash.update(bytes);
    }
    return hash.digest(encoding);
  }

  #spend(bytes: number, name: string): void {
    this.#left -= bytes;
    if (this.#left < 0)
      throw new Error(`is larger than ${maxBytes / 2 ** 20} MB together with ${name}; ${cure}`);
  }
}
