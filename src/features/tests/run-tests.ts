import { ConfigError, type Config, type ConfigProblem, type PipelineConfig } from '../../config/config.js';
import { writePath } from '../../config/document.js';
import { allStages } from '../../config/rules.js';
import type { Environment } from '../../config/environment.js';
import { loadConfig, readConfig, readConfigFile, type ConfigInput } from '../../config/load.js';
import { SecretPlaceholders } from '../dry-run/placeholders.js';
import type { ConfigTest } from './config-test.js';
import { findTests, isTestFile, type FoundTests, type TestSelection } from './find-tests.js';
import type { TestFailure, TestReport, TestResult } from './report.js';
import { namedPipelines, unknownPipelines } from './test-pipelines.js';
import { runTest, type OpenEngine, type TestRun } from './run-test.js';

export interface TestOptions extends TestSelection {
  readonly env: Environment;
  readonly open: OpenEngine;
  /** Refuses tests with `only` and `skip`. */
  readonly isCi?: boolean;
  /** True if missing values in `*.test.yaml` files are not failures: they are written next. */
  readonly records?: boolean;
}

/** Tests that have run, with their outcomes. */
export interface FinishedTests {
  readonly files: readonly FoundTests[];
  readonly runs: readonly FinishedTest[];
  readonly report: TestReport;
}

/** A test, its file and config, and its run; without one it was skipped. */
export interface FinishedTest {
  readonly test: ConfigTest;
  readonly file: FoundTests;
  readonly config?: Config;
  readonly run?: TestRun;
}

/** Runs the tests of a config, one after another. Throws a ConfigError for invalid tests and for a refused config. */
export async function runTests(options: TestOptions): Promise<FinishedTests> {
  const startMs = performance.now();
  const placeholders = new SecretPlaceholders();
  const files = await findTests(options, await pipelinesOf(options, placeholders));
  if (options.isCi === true) refuseMarks(files);
  const all = files.flatMap((file) => file.tests.map((test) => ({ test, file })));
  const only = all.filter(({ test }) => test.isOnly);
  const chosen = only.length > 0 ? only : all;
  const configs = new Configs(options.env, placeholders);
  await refuseUnknownPipelines(chosen, configs);
  const runs: FinishedTest[] = [];
  for (const { test, file } of chosen) {
    if (test.skip !== undefined) {
      runs.push({ test, file });
      continue;
    }
    const config = await configs.load(file.config, test.env);
    const run = await runTest(test, config, options.open);
    const isRecorded = options.records === true && isTestFile(file.file);
    runs.push({
      test,
      file,
      config,
      run: isRecorded ? run : withUnrecorded(run, test, isTestFile(file.file)),
    });
  }
  const report: TestReport = {
    results: runs.map(({ test, run }) => run?.result ?? skipped(test)),
    leftOut: all.length - chosen.length,
    written: 0,
    warnings: [...warningsOf(all.length, placeholders), ...recordWarnings(runs, options.env)],
    durationMs: performance.now() - startMs,
  };
  return { files, runs, report };
}

/** Throws for tests that name unknown pipelines. */
async function refuseUnknownPipelines(
  chosen: readonly { readonly test: ConfigTest; readonly file: FoundTests }[],
  configs: Configs,
): Promise<void> {
  const problems: ConfigProblem[] = [];
  for (const { test, file } of chosen) {
    if (test.skip !== undefined || namedPipelines(test).length === 0) continue;
    const { pipelines } = await configs.load(file.config, test.env);
    problems.push(...unknownPipelines(test, pipelines));
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Named pipelines of the config, as far as they can be read; a config that is refused is reported by its tests. */
async function pipelinesOf(
  { config, env, files }: TestOptions,
  placeholders: SecretPlaceholders,
): Promise<readonly PipelineConfig[]> {
  if (files.length > 0) return [];
  return readConfig({ ...(await readConfigFile(config, env)), placeholders }).pipelines;
}

/** A run with a failure for each value that still has to be recorded. */
function withUnrecorded(run: TestRun, test: ConfigTest, isWritable: boolean): TestRun {
  const cure = isWritable
    ? '`gw2api test --update` writes it'
    : 'values are not written into a config; move the test to a *.test.yaml file';
  const failures = test.steps
    .flatMap(({ requests }) => requests.flatMap(({ snapshots }) => snapshots))
    .map(({ at }): TestFailure => {
      const message = `has no recorded value yet; ${cure}`;
      return { at: test.positionOf(at), place: writePath(at), message };
    });
  if (failures.length === 0) return run;
  const all = [...run.result.failures, ...failures];
  return { ...run, result: { ...run.result, status: 'failed', failures: all } };
}

function skipped({ name, at, skip = '' }: ConfigTest): TestResult {
  return { name, at, status: 'skipped', reason: skip, durationMs: 0, failures: [] };
}

/**
 * Notice about a missing GW_SECRET_KEY, which the stage `record` requires at its start although tests never record.
 */
function recordWarnings(runs: readonly FinishedTest[], env: Environment): readonly string[] {
  const records = runs.some(
    ({ config }) => config && allStages(config).some(({ use, enabled }) => use === 'record' && enabled),
  );
  if (!records || env['GW_SECRET_KEY']) return [];
  return [
    'a placeholder is used for GW_SECRET_KEY, with which the stage record encrypts: set it where the gateway runs',
  ];
}

function warningsOf(count: number, { names }: SecretPlaceholders): readonly string[] {
  const none =
    count === 0
      ? ['no tests were found; write them under "tests:" or in a *.test.yaml beside the config']
      : [];
  if (names.length === 0) return none;
  return [...none, `placeholders are used for secrets missing in the environment: ${names.join(', ')}`];
}

function refuseMarks(files: readonly FoundTests[]): void {
  const problems = files.flatMap(({ tests }) =>
    tests.flatMap((test): readonly ConfigProblem[] => {
      const marks = [...(test.isOnly ? ['only'] : []), ...(test.skip === undefined ? [] : ['skip'])];
      return marks.map((mark) => ({
        at: test.positionOf([...test.path, mark]),
        path: `tests[${test.path.at(-1)}].${mark}`,
        message: 'is refused by --ci; remove it, or run without --ci',
      }));
    }),
  );
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Configs, each read once for an environment. */
class Configs {
  readonly #env: Environment;
  readonly #placeholders: SecretPlaceholders;
  readonly #known = new Map<string, Promise<Config>>();

  constructor(env: Environment, placeholders: SecretPlaceholders) {
    this.#env = env;
    this.#placeholders = placeholders;
  }

  load(file: string, env: ConfigTest['env']): Promise<Config> {
    const key = JSON.stringify([file, Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
    const known = this.#known.get(key) ?? this.#read(file, env);
    this.#known.set(key, known);
    return known;
  }

  async #read(file: string, env: ConfigTest['env']): Promise<Config> {
    const input: ConfigInput = await readConfigFile(file, { ...this.#env, ...env });
    return loadConfig({ ...input, placeholders: this.#placeholders });
  }
}
