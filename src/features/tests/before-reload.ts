import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { formatProblem, type ConfigProblem, type Position } from '../../config/config.js';
import { programFile } from '../../kit/package-files.js';
import type { Environment } from '../../config/environment.js';
import type { FailedTest, TestVerdict } from '../../gateway/options.js';

/** Max time that the tests of a config may take. */
const testTimeoutMs = 60_000;

/** Max failures to report. */
const maxFailures = 20;
/** Max length of a failure. */
const maxLength = 500;
/** Max bytes of a report. */
const maxOutput = 16 * 2 ** 20;

/**
 * Runs the tests of a config file in a process of its own, which is killed after 60 s and by the signal; without tests
 * there is no process. Unreadable tests count as failed.
 */
export async function testConfig(
  file: string,
  env: Environment,
  signal?: AbortSignal,
  timeoutMs = testTimeoutMs,
): Promise<TestVerdict> {
  if (!(await mayHaveTests(file))) return { passed: 0, failures: [] };
  const { output, end } = await run(['test', '--json', '--config', file], { env, signal, timeoutMs });
  if (end === 'late') return failed(`The tests did not end within ${timeoutMs / 1000} s.`);
  if (end === 'too long') return failed(`The report of the tests is larger than ${maxOutput / 2 ** 20} MB.`);
  return verdictOf(output) ?? failed(`The tests could not be run: ${clip(output.trim())}`);
}

function clip(text: string): string {
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
}

function failed(message: string): TestVerdict {
  return { passed: 0, failures: [{ message }] };
}

/** False for a config in which nothing is called tests or pipelines, and that has no file of tests beside it. */
async function mayHaveTests(file: string): Promise<boolean> {
  try {
    if (/\b(?:tests|pipelines)\b/.test(await readFile(file, 'utf8'))) return true;
    return (await readdir(path.dirname(file))).some((name) => /\.test\.ya?ml$/.test(name));
  } catch {
    return false; // a file that cannot be read is a problem of the config, which the reload tells
  }
}

interface Run {
  readonly env: Environment;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

function run(
  args: readonly string[],
  { env, signal, timeoutMs }: Run,
): Promise<{ readonly output: string; readonly end?: 'late' | 'too long' }> {
  const script = programFile('server.js');
  const options = {
    env,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: maxOutput,
    ...(signal && { signal }),
  } as const;
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], options, (error, stdout, stderr) => {
      const isTooLong = error?.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
      const isLate = !isTooLong && error?.killed === true;
      const output = stdout || stderr || (error?.message ?? '');
      resolve({ output, ...(isLate && { end: 'late' }), ...(isTooLong && { end: 'too long' }) });
    });
  });
}

/** Report of `gw2api test --json`, as far as it is used here. */
interface Report {
  readonly passed: number;
  readonly problems: readonly (Position & Omit<ConfigProblem, 'at'>)[];
  readonly tests: readonly {
    readonly name: string;
    readonly pipeline?: string;
    readonly failures: readonly Failure[];
  }[];
}

interface Failure extends Position {
  readonly message?: string;
  readonly path?: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
}

function verdictOf(output: string): TestVerdict | undefined {
  const report = parsed(output);
  if (!report) return undefined;
  const all = [
    ...report.problems.map((problem) => ({
      message: formatProblem({ ...problem, at: problem }),
      ...(problem.pipeline !== undefined && { pipeline: problem.pipeline }),
    })),
    ...report.tests.flatMap(failuresOf),
  ];
  const listed = all.slice(0, maxFailures).map((one) => ({ ...one, message: clip(one.message) }));
  const rest = all.length - listed.length;
  const more = rest > 0 ? [{ message: `${rest} more failures` }] : [];
  return { passed: report.passed, failures: [...listed, ...more] };
}

function failuresOf({ name, pipeline, failures }: Report['tests'][number]): readonly FailedTest[] {
  const owner = pipeline === undefined ? '' : ` of the pipeline ${JSON.stringify(pipeline)}`;
  return failures.map((failure) => ({
    message: `${placeOf(failure)} ${JSON.stringify(name)}${owner}: ${reasonOf(failure)}`,
    test: name,
    ...(pipeline !== undefined && { pipeline }),
  }));
}

function parsed(output: string): Report | undefined {
  try {
    return JSON.parse(output) as Report; // of this version of gw2api
  } catch {
    return undefined; // it ended before there was a report
  }
}

function placeOf({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

function reasonOf({ message, path: at, expected, actual }: Failure): string {
  if (at === undefined) return message ?? '';
  const value = actual === undefined ? 'absent' : JSON.stringify(actual);
  const hint = message === undefined ? '' : ` (${message})`;
  return `${at}: expected ${JSON.stringify(expected)}, got ${value}${hint}`;
}
