/**
 * Step of a build: builds the page at `/panel` from `src/console/web` and the pages of the features into
 * `dist/console/web` if its sources are newer than the last build.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { isUpToDate, repository, treeOf } from './outputs.js';

const sources = join(repository, 'src/console/web');
const features = join(repository, 'src/features');
const built = join(repository, 'dist/console/web');

/** Words that pages share with the engine. */
const words = 'src/engine/slots/words.ts';

/** Max bytes of all scripts of the page, gzipped. */
const maxScriptBytes = 150_000;

const compressible = new Set(['.html', '.css', '.js', '.svg']);

if (!(await isBuilt())) await buildPage();

async function isBuilt(): Promise<boolean> {
  const ours = [words, 'package-lock.json'].map((path) => join(repository, path));
  const inputs = [
    fileURLToPath(import.meta.url),
    ...(await treeOf(sources)),
    ...(await pageFiles()),
    ...ours,
  ];
  return isUpToDate(join(built, 'index.html.br'), inputs); // the last file that a build writes
}

async function buildPage(): Promise<void> {
  const { build } = await import('vite');
  await build({ root: sources, logLevel: 'warn' });
  const files = (await treeOf(built)).filter((file) => compressible.has(extname(file)));
  const gzipped = await Promise.all(files.map((file) => compress(file)));
  const scripts = gzipped.filter((_, index) => files[index]?.endsWith('.js'));
  const scriptBytes = scripts.reduce((total, bytes) => total + bytes, 0);
  if (scriptBytes > maxScriptBytes)
    throw new Error(
      `The page has ${scriptBytes} bytes of gzipped script; at most ${maxScriptBytes} are allowed.`,
    );
  await brotli(join(built, 'index.html'));
}

/** Writes the compressed files that browsers are sent, and returns the gzipped size. */
async function compress(file: string): Promise<number> {
  const packed = await promisify(gzip)(await readFile(file), { level: 9 });
  await writeFile(`${file}.gz`, packed);
  if (!file.endsWith('index.html')) await brotli(file);
  return packed.length;
}

async function brotli(file: string): Promise<void> {
  await writeFile(`${file}.br`, await promisify(brotliCompress)(await readFile(file)));
}

/** Files and folders of the features' pages, the words that these share with their feature, and the list of pages. */
async function pageFiles(): Promise<readonly string[]> {
  const files = await treeOf(features);
  return files.filter((file) => {
    const [first, second] = relative(features, file).split(sep);
    return first === 'pages.tsx' || second === 'page' || second === 'words.ts';
  });
}
