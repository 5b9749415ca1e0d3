import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { mayStart } from './fast-files.js';
import { mochaCommand, runMocha } from './run-mocha.js';

/**
 * `npm run test:file -- PATH … [OPTIONS OF MOCHA]`: runs the built tests of these files and folders of `test/` alone.
 * With `--watch` (`npm run test:watch`) builds and runs them again at each change, until a signal.
 */
const given = process.argv.slice(2).filter((word) => word !== '--watch');
const args = given.map((word) => builtOf(word) ?? word);
if (!args.some((word) => word.startsWith('build/'))) {
  process.stderr.write('Write a file or a folder of test/: npm run test:file -- test/http/routes.test.ts\n');
  process.exitCode = 2;
} else if (process.argv.includes('--watch')) await watch();
else {
  await buildMeasurements();
  await bundleIfStarted();
  await runMocha(args);
}

/** Where the build puts a file or a folder of `test/`; undefined for what is none. */
function builtOf(word: string): string | undefined {
  const source = path.relative('.', word);
  if (!existsSync(source)) return undefined;
  if (source.startsWith('build/')) return source;
  const built = path.join('build', source);
  return source.endsWith('.ts') ? built.replace(/\.ts$/, '.js') : `${built}/**/*.test.js`;
}

/** Builds the measurements that a path is in, which the build of the tests leaves out. */
async function buildMeasurements(): Promise<void> {
  const named = ['bench', 'failover'].filter((name) =>
    args.some((word) => word.startsWith(`build/test/${name}`)),
  );
  if (named.length === 0) return;
  const code = await ended(compiler(named.map((name) => `test/${name}`)));
  if (code !== 0) process.exit(code);
}

/** Bundles the program, which takes seconds, only for tests that may start it. */
async function bundleIfStarted(): Promise<void> {
  const tests = args.filter((word) => word.startsWith('build/')).map((word) => path.resolve(word));
  const hasFolder = tests.some((file) => !file.endsWith('.test.js') || file.includes('*'));
  if (hasFolder || mayStart(tests, path.resolve('build/test')))
    await import(pathToFileURL(path.resolve('build/build/bundle.js')).href);
}

function compiler(options: readonly string[], stdout: 'inherit' | 'pipe' = 'inherit'): ChildProcess {
  const program = path.resolve('node_modules/typescript/bin/tsc');
  return spawn(process.execPath, [program, '-b', ...options], { stdio: ['ignore', stdout, 'inherit'] });
}

function mocha(): ChildProcess {
  return spawn(process.execPath, mochaCommand(args), { stdio: 'inherit' });
}

/** Exit code of a program; 1 where a signal has ended it. */
async function ended(child: ChildProcess): Promise<number> {
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** Runs the tests after each build without errors; a build during a run begins it anew. */
async function watch(): Promise<void> {
  const { stdout } = compiler(['-w', '--preserveWatchOutput'], 'pipe');
  let running: ChildProcess | undefined;
  for await (const line of createInterface({ input: stdout! })) {
    process.stdout.write(`${line}\n`);
    if (!line.includes('Found 0 errors')) continue;
    running?.kill();
    running = mocha();
  }
  running?.kill();
}
