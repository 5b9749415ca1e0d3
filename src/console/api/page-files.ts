import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';

/** One file of the built page, held in memory. */
export interface PageFile {
  /** Content type, or the file extension that implies it. */
  readonly type: string;
  /** True if the name contains a hash of the content, so that browsers may cache the file without limit. */
  readonly isHashed: boolean;
  /** Contents by content encoding: `identity`, and the compressed ones that the build has made. */
  readonly bodies: Readonly<Record<string, Buffer>>;
  /** Shortened hex SHA-256 of the content. */
  readonly tag: string;
}

/** Files of the page by path below `/panel/`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** All files of the page; undefined if it has not been built. */
export async function readPage(folder: URL): Promise<PageFiles | undefined> {
  const paths = await list(folder);
  if (!paths.includes('index.html')) return undefined;
  const plain = paths.filter((path) => !/\.(br|gz)$/.test(path));
  const files = plain.map(async (path) => [path, await readPageFile(folder, path, paths)] as const);
  return new Map(await Promise.all(files));
}

async function list(folder: URL): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return entries.filter((path) => extname(path) !== '').map((path) => path.replaceAll('\\', '/'));
}

async function readPageFile(folder: URL, path: string, paths: readonly string[]): Promise<PageFile> {
  const read = (name: string) => readFile(new URL(name, folder));
  const identity = await read(path);
  const bodies: Record<string, Buffer> = {};
  // Smallest encoding first: the first one that the browser accepts is sent.
  if (paths.includes(`${path}.br`)) bodies['br'] = await read(`${path}.br`);
  if (paths.includes(`${path}.gz`)) bodies['gzip'] = await read(`${path}.gz`);
  bodies['identity'] = identity;
  const tag = createHash('sha256').update(identity).digest('hex').slice(0, 20);
  return { type: extname(path), isHashed: path.startsWith('assets/'), bodies, tag };
}
