/**
 * Builds the page at `/panel` from `web/` into `dist/console/web`, where its sources are newer than what is there. Not a
 * part of the package: `npm run build` runs it.
 */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const sources = join(repository, 'src/console/web');
const built = join(repository, 'dist/console/web');

/** The most script that the page may have, gzipped, in all. */
const mostScriptBytes = 150_000;

const compressible = new Set(['.html', '.css', '.js', '.svg']);

if (!(await isBuilt())) await buildPage();

/** A removed file counts too: its folder is newer then. */
async function isBuilt(): Promise<boolean> {
  const madeMs = await timeOf(join(built, 'index.html.br')); // the last file that a build writes
  const inputs = [sources, ...(await filesIn(sources)), join(repository, 'package-lock.json')];
  const changedMs = await Promise.all([fileURLToPath(import.meta.url), ...inputs].map(timeOf));
  return Math.max(...changedMs) < madeMs;
}

async function buildPage(): Promise<void> {
  const { build } = await import('vite');
  await build({ root: sources, logLevel: 'warn' });
  const files = (await filesIn(built)).filter((file) => compressible.has(extname(file)));
  const gzipped = await Promise.all(files.map((file) => compress(file)));
  const scripts = gzipped.filter((_, index) => files[index]?.endsWith('.js'));
  const scriptBytes = scripts.reduce((total, bytes) => total + bytes, 0);
  if (scriptBytes > mostScriptBytes)
    throw new Error(
      `The page has ${scriptBytes} bytes of gzipped script; at most ${mostScriptBytes} may be.`,
    );
  await brotli(join(built, 'index.html'));
}

/** Writes what browsers are sent in place of the file, and gives its size gzipped. */
async function compress(file: string): Promise<number> {
  const packed = await promisify(gzip)(await readFile(file), { level: 9 });
  await writeFile(`${file}.gz`, packed);
  if (!file.endsWith('index.html')) await brotli(file);
  return packed.length;
}

async function brotli(file: string): Promise<void> {
  await writeFile(`${file}.br`, await promisify(brotliCompress)(await readFile(file)));
}

async function filesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).map((path) => join(folder, path));
}

/** When a file was last written, in milliseconds; the beginning of time where there is none. */
async function timeOf(file: string): Promise<number> {
  const info = await stat(file).catch(() => undefined);
  return info?.mtimeMs ?? 0;
}
