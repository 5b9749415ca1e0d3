import { readdir, rm, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { InputOptions, OutputChunk, RolldownOutput } from 'rolldown';
import { chunkNames } from './chunks.js';
import { entries, publicModules } from './entries.js';
import { licences } from './licences.js';
import { latePackages } from './late-packages.js';
import { lazyHttp } from './lazy-http.js';
import { undiciParts } from './undici-parts.js';
import { isUpToDate, repository, treeOf } from './outputs.js';

/**
 * Step of a build: bundles the program with the packages that it uses into `dist` if a source is newer than the last
 * bundle. Modules that are started, or loaded by a path, keep their place in it; all others are in `dist/chunks`.
 */
const dist = join(repository, 'dist');
/** Licences of the packages within, the last file that is written. */
const licenceFile = join(dist, 'THIRD-PARTY.txt');

/** Packages that stay outside: a native one, and those that a user installs beside this one. */
const external = ['libsql', '@aws-sdk/credential-provider-node', 'google-auth-library'];

/** Packages that others use where they are installed. */
const optional = ['pg-native', 'bufferutil', 'utf-8-validate'];

type OnLog = NonNullable<InputOptions['onLog']>;

/** A package that is not found, or a circle of modules that needs an order, fails the build. */
const refuse: OnLog = (level, log) => {
  if (log.code === 'EVAL') return; // of a package that names a deprecated function
  if (log.code === 'INEFFECTIVE_DYNAMIC_IMPORT') return; // of what one command loads late, and another at once
  if (level === 'warn') throw new Error(log.message);
};

if (!(await isBundled())) await bundle();

async function isBundled(): Promise<boolean> {
  const trees = ['src', 'plugins', 'build/build'].map((folder) => treeOf(join(repository, folder)));
  const inputs = (await Promise.all(trees)).flat();
  const files = ['package.json', 'package-lock.json'].map((file) => join(repository, file));
  return isUpToDate(licenceFile, [...inputs, ...files]);
}

async function bundle(): Promise<void> {
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    cwd: repository,
    platform: 'node',
    input: await entries(),
    external: [...external, ...optional],
    resolve: { alias: aliases(), extensionAlias: { '.js': ['.ts', '.js'] } },
    transform: { target: 'node20' },
    plugins: [latePackages, lazyHttp, undiciParts],
    preserveEntrySignatures: 'allow-extension',
    tsconfig: false,
    onLog: refuse,
  });
  const output = await build.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name].js',
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: 'gateway', name: await chunkNames() }],
    },
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  await removeOthers(output);
  await writeFile(licenceFile, await licences(chunksOf(output).flatMap(({ moduleIds }) => moduleIds)));
}

/** Sources in place of the public modules that plugins import; the longer specifiers first. */
function aliases(): Readonly<Record<string, string>> {
  const sources = Object.entries(publicModules());
  return Object.fromEntries(sources.toSorted(([one], [other]) => other.length - one.length));
}

function chunksOf({ output }: RolldownOutput): readonly OutputChunk[] {
  return output.filter((file) => file.type === 'chunk');
}

/** Removes the files of an earlier bundle. */
async function removeOthers(output: RolldownOutput): Promise<void> {
  const written = new Set(chunksOf(output).flatMap(({ fileName }) => [fileName, `${fileName}.map`]));
  const found = await readdir(dist, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const stale = files.filter((file) => {
    const name = file
      .slice(dist.length + 1)
      .split(sep)
      .join('/');
    return !written.has(name) && !name.startsWith('console/web/') && name !== 'commit';
  });
  await Promise.all(stale.map((file) => rm(file)));
}
