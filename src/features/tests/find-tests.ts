import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError, type ConfigProblem, type PipelineConfig } from '../../config/config.js';
import { readConfigTests, readTestFile, type TestFile } from './read-tests.js';

/** Choice of the tests to run. */
export interface TestSelection {
  /** Test files, or folders of them; empty: the tests of the config, in it and beside it. */
  readonly files: readonly string[];
  readonly config: string;
  /** True if the caller has named the config, with which all files are then run. */
  readonly isNamed: boolean;
}

/** A file of tests and the config that it is about. */
export interface FoundTests extends TestFile {
  readonly config: string;
}

/**
 * Reads the tests of a selection. Throws a ConfigError with the problems of all files at once, and for a file that
 * cannot be read.
 */
export async function findTests(
  { files, config, isNamed }: TestSelection,
  pipelines: readonly Pick<PipelineConfig, 'name' | 'tests'>[] = [],
): Promise<readonly FoundTests[]> {
  const found = files.length > 0 ? await namedTests(files) : await testsOf(config, pipelines);
  const problems = found.flatMap((file) => file.problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return found.map((file) => ({ ...file, config: isNamed ? config : (file.config ?? config) }));
}

async function namedTests(files: readonly string[]): Promise<readonly TestFile[]> {
  const lists = await Promise.all(
    files.map(async (file) => ((await isFolder(file)) ? testFilesIn(file) : [file])),
  );
  const names = [...new Set(lists.flat())];
  return Promise.all(names.map(async (file) => readTestFile(await textOf(file), file)));
}

/** The tests in a config, and in the files beside it that name it or no config. */
async function testsOf(
  config: string,
  pipelines: readonly Pick<PipelineConfig, 'name' | 'tests'>[],
): Promise<readonly TestFile[]> {
  const own = readConfigTests(await textOf(config), config);
  const listed = new Set(pipelines.flatMap(({ tests }) => tests));
  const names = (await testFilesIn(path.dirname(config))).filter((file) => !listed.has(path.resolve(file)));
  const beside = await Promise.all(names.map(async (file) => readTestFile(await textOf(file), file)));
  const isAbout = ({ config: named }: TestFile) =>
    named === undefined || path.resolve(named) === path.resolve(config);
  const filled = own.tests.length > 0 || own.problems.length > 0 ? [own] : [];
  const ofPipelines = await Promise.all(pipelines.map(testsOfPipeline));
  return [...filled, ...beside.filter(isAbout), ...ofPipelines.flat()];
}

/** Tests that a named pipeline lists, also those of files that cannot be read: these have problems. */
async function testsOfPipeline({
  name: pipeline,
  tests: files,
}: Pick<PipelineConfig, 'name' | 'tests'>): Promise<readonly TestFile[]> {
  const read = files.map(async (absolute) => {
    const file = path.relative(process.cwd(), absolute);
    const { tests, problems, ...found } = await textOf(file).then(
      (text) => readTestFile(text, file),
      (error: unknown) => unreadable(file, error),
    );
    return {
      ...found,
      tests: tests.map((test) => ({ ...test, pipeline })),
      problems: problems.map((problem) => ({ ...problem, pipeline })),
    };
  });
  return Promise.all(read);
}

/** A file whose text cannot be had. Throws any error that is not a ConfigError. */
function unreadable(file: string, error: unknown): TestFile {
  if (!(error instanceof ConfigError)) throw error;
  return { file, text: '', tests: [], bodyFiles: [], problems: error.problems };
}

/** Files of tests in a folder, by name. */
async function testFilesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  return names
    .filter(isTestFile)
    .toSorted()
    .map((name) => path.join(folder, name));
}

/** True for a file with tests and without a config. */
export function isTestFile(file: string): boolean {
  return /\.test\.ya?ml$/.test(file);
}

async function isFolder(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Max characters of a file of tests. */
const maxLength = 16 * 2 ** 20;

async function textOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'the file does not exist' : `cannot be read (${error.code})`;
    throw new ConfigError([problemOf(file, why)]);
  });
  if (text.length > maxLength) throw new ConfigError([problemOf(file, 'is larger than 16 MB')]);
  return text;
}

function problemOf(file: string, message: string): ConfigProblem {
  return { at: { file, line: 1, column: 1 }, path: '', message };
}
