import { Console } from 'node:console';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { ConfigError } from '../../../config/config.js';
import type { Environment } from '../../../config/environment.js';
import type { VerbCall, VerbResult } from '../../feature.js';
import type { TestSelection } from '../find-tests.js';
import { jsonProblems, jsonReport, junitReport } from './machine-reports.js';
import { countOf, type TestReport } from '../report.js';
import type { OpenGateway } from '../../../gateway/gateway.js';
import type { OpenEngine } from '../run-test.js';
import { runTests } from '../run-tests.js';
import { testFileSchema } from '../test-editor-schema.js';
import { textReport } from './text-report.js';
import { writeSnapshots } from './update.js';
import { changeIn, foldersOf, maxFolders } from './watched-folders.js';
import { DryGateway } from '../../dry-run/dry-gateway.js';
import { UsageError } from '../../../gateway/start-failure.js';
import { PluginFiles } from '../../../engine/pipeline/load/import/plugin-files.js';

/** Options of `gw2api test` as they were given. */
export interface TestValues {
  readonly config?: string;
  readonly json?: boolean;
  readonly junit?: boolean;
  readonly ci?: boolean;
  readonly update?: boolean;
  readonly watch?: boolean;
  readonly schema?: boolean;
}

/** Runs the command on the tests of a config, or those of some files. Throws a UsageError (exit code 2). */
export async function run({
  values: { config, ...given },
  words: files,
  env,
  isColoured,
  configFile,
  openGateway,
}: VerbCall<TestValues>): Promise<VerbResult> {
  const { schema, json: isJson, junit: isJunit } = given;
  if (isJson && isJunit) throw new UsageError('--json and --junit exclude each other; keep one.');
  if (schema) return { text: testSchema(), exitCode: 0 };
  const selection = { files, config: await configFile(config), isNamed: config !== undefined };
  const { ci: isCi = false, update: isUpdate = false, watch: isWatch = false } = given;
  const form = isJson ? 'json' : isJunit ? 'junit' : 'text';
  return test(selection, env, { form, isCi, isUpdate, isWatch, isColoured }, openGateway);
}

export interface TestFlags {
  readonly isCi: boolean;
  readonly isUpdate: boolean;
  /** Runs them again at each change of their dependencies, until a signal. */
  readonly isWatch: boolean;
  readonly form: 'text' | 'json' | 'junit';
  readonly isColoured: boolean;
}

/** JSON Schema of test files, for editors. */
export function testSchema(): string {
  return `${JSON.stringify(testFileSchema(), null, 2)}\n`;
}

/** Runs the tests of a config. Throws a UsageError for refused tests and configs, except as JSON. */
export async function test(
  selection: TestSelection,
  env: Environment,
  flags: TestFlags,
  openGateway: OpenGateway,
): Promise<VerbResult> {
  const open: OpenEngine = (config, settings) => DryGateway.open(config, openGateway, settings);
  if (flags.isWatch) return watchTests(selection, env);
  if (flags.form !== 'text') globalThis.console = new Console(process.stderr); // plugins may write, and the report stays whole
  try {
    const finished = await runTests({ ...selection, env, open, isCi: flags.isCi, records: flags.isUpdate });
    const written = flags.isUpdate ? await writeSnapshots(finished, open) : 0;
    const report = { ...finished.report, written };
    return { text: reportOf(report, flags), exitCode: countOf(report, 'failed') > 0 ? 1 : 0 };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (flags.form === 'json') return { text: jsonProblems(error.problems), exitCode: 2 };
    throw new UsageError(error.message);
  }
}

function reportOf(report: TestReport, { form, isColoured }: TestFlags): string {
  if (form === 'json') return jsonReport(report);
  return form === 'junit' ? junitReport(report) : textReport(report, isColoured);
}

/** Runs this command in a process of its own, and again at each change, until a signal ends this one. */
async function watchTests(selection: TestSelection, env: Environment): Promise<VerbResult> {
  const args = process.argv.slice(2).filter((word) => word !== '--watch');
  const stop = new AbortController();
  const end = (): void => stop.abort();
  process.once('SIGINT', end).once('SIGTERM', end);
  const plugins = new PluginFiles();
  let folders: readonly string[] = [];
  while (!stop.signal.aborted) {
    const changed = new AbortController();
    const listed = await foldersOf(selection, env, (file) => plugins.list(file, path.dirname(file)));
    // Those of the run before are kept: a broken file says no longer what belongs to it.
    folders = [...new Set([...listed, ...folders])].slice(0, maxFolders);
    const change = changeIn(folders, stop.signal).then(() => changed.abort());
    await runOnce(args, changed.signal);
    if (!changed.signal.aborted) process.stdout.write('\nWaiting for a change; press Ctrl-C to stop.\n');
    await change;
  }
  return { text: '', exitCode: 0 };
}

/** Runs a command in a process of its own, which the signal ends. */
async function runOnce(args: readonly string[], signal: AbortSignal): Promise<void> {
  const [, script = ''] = process.argv;
  const child = spawn(process.execPath, [...process.execArgv, script, ...args], { stdio: 'inherit' });
  const end = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', end);
  await once(child, 'exit');
  signal.removeEventListener('abort', end);
}
