import { createHash } from 'node:crypto';
import { readFileSync, statSync, type BigIntStats } from 'node:fs';
import path from 'node:path';

/** Last scan of a file: its stamp, a digest of its content, and the files that it imports by a relative path. */
interface Scan {
  readonly stamp: string;
  readonly digest: string;
  readonly imports: readonly string[];
}

/**
 * The files of a plugin: its own, and those of its folder that it imports by a relative path, recursively. Excludes
 * packages (`node_modules`).
 */
export class PluginFiles {
  /** By file; cleared when it is too large. */
  readonly #scans = new Map<string, Scan>();

  /** The file and its imports within `root`, at most 1000 files. */
  list(file: string, root: string): readonly string[] {
    const found = new Set([file]);
    for (const one of found) {
      for (const imported of this.importsOf(one))
        if (found.size < maxFiles && isWithin(imported, root)) found.add(imported);
    }
    return [...found];
  }

  /** Digest of the content and the times of a file and all its imports within `root`. */
  version(file: string, root: string): string {
    const hash = createHash('sha1');
    for (const one of this.list(file, root).toSorted())
      hash.update(`${path.relative(root, one)}\n${this.#scan(one)?.digest}\n`);
    return hash.digest('hex').slice(0, 12);
  }

  /** Files that a file imports by a relative path, wherever they are. */
  importsOf(file: string): readonly string[] {
    return this.#scan(file)?.imports ?? [];
  }

  /** Undefined for an unreadable file. */
  #scan(file: string): Scan | undefined {
    const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
    if (!stats?.isFile()) return undefined;
    const stamp = `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
    const known = this.#scans.get(file);
    if (known?.stamp === stamp) return known;
    const scan = { stamp, ...contentOf(file, stats) };
    if (this.#scans.size >= maxScans) this.#scans.clear();
    this.#scans.set(file, scan);
    return scan;
  }
}

const maxFiles = 1000;
const maxScans = 4000;
/** Max size of a compared file; larger ones are compared by their times alone. */
const maxBytes = 8n * 1024n * 1024n;

function contentOf(file: string, { size, mtimeNs }: BigIntStats): Omit<Scan, 'stamp'> {
  if (size > maxBytes) return { digest: String(mtimeNs), imports: [] };
  const text = readFileSync(file, 'utf8');
  const digest = createHash('sha1').update(`${mtimeNs} ${text}`).digest('hex');
  const names = new Set([...text.matchAll(relativeImport)].map(([, , name = '']) => name));
  const imports = [...names].flatMap((name) => locate(path.resolve(path.dirname(file), name)) ?? []);
  return { digest, imports };
}

/** `from '../a.js'`, `import '../a.js'`, `import('../a.js')`, `require('./a.js')`; matches in comments are harmless. */
const relativeImport = /\b(?:from|import|require)\s{0,9}\(?\s{0,9}(['"])(\.{1,2}\/[^'"\n?#]{1,500})\1/g;

/** A file as `import` names it, or as `require` completes it. */
function locate(name: string): string | undefined {
  return ['', '.js', '.cjs', '.json', '/index.js']
    .map((ending) => name + ending)
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}

/** True for a file in a folder that belongs to no package within it. */
export function isWithin(file: string, root: string): boolean {
  const parts = path.relative(root, file).split(path.sep);
  return parts[0] !== '..' && !path.isAbsolute(parts.join(path.sep)) && !parts.includes('node_modules');
}
