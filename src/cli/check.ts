import { ConfigError, formatProblem, type Config, type ConfigProblem } from '../config/config.js';
import { readConfigFile } from '../config/load.js';
import type { Environment } from '../config/environment.js';
import { warningsOf } from '../config/rules.js';
import { openGateway } from '../features/open.js';
import { budgetWarnings } from '../gateway/budgets.js';
import { callerWarnings } from '../gateway/caller-warnings.js';
import { loadGatewayConfig, otherFile } from '../gateway/load-config.js';
import { configTests } from '../features/config-tests.js';
import type { TestVerdict } from '../gateway/options.js';
import { describeNamed, describePipeline } from '../engine/pipeline/run/describe.js';
import type { Pipeline } from '../engine/pipeline/run/pipeline.js';
import { createLogger } from '../gateway/telemetry/logs.js';
import { checkOnline } from './check-online.js';
import { weakSecrets } from './weak-secrets.js';

interface CheckResult {
  readonly text: string;
  /** 1 if a slot or a model failed the online check. */
  readonly exitCode: 0 | 1;
}

/**
 * Describes the pipelines of a config, or a named one with all its stages, with warnings; with `isOnline` also the
 * result of `checkOnline`, with `isTested` that of its tests. Throws ConfigError, also for unreadable tests.
 */
export async function check(
  file: string,
  env: Environment,
  isOnline: boolean,
  { isTested = false, pipeline: named }: { readonly isTested?: boolean; readonly pipeline?: string } = {},
): Promise<CheckResult> {
  const input = await readConfigFile(file, env, otherFile);
  const config = await loadGatewayConfig(input).catch(async (error: unknown) =>
    alsoTelling(await configTests.problemsOf(input.text, file))(error),
  );
  const ofTests = await configTests.problemsOf(input.text, file, config.pipelines);
  // Memory instead of the store and of Redis: a check creates no file and connects to no server.
  const alone: Config = { ...config, store: { kind: 'memory' }, live: { kind: 'memory' } };
  const gateway = await openGateway(alone, {
    log: createLogger('silent'),
    masterKey: '',
    ...(env['GW_SECRET_KEY'] && { secretKey: env['GW_SECRET_KEY'] }),
    isCheck: true,
    loadConfig: () => Promise.resolve(config),
  }).catch(alsoTelling(ofTests));
  const { pipeline } = gateway.runtime;
  const text = named === undefined ? describePipeline(config, pipeline) : namedText(named, pipeline);
  const online = isOnline ? await checkOnline(config, gateway.services.slots, pipeline.probes) : undefined;
  const problems = [...(await pipeline.retire()), ...ofTests];
  await gateway.close();
  if (problems.length > 0) throw new ConfigError(problems);
  const warned = [
    ...[...warningsOf(config), ...budgetWarnings(config, pipeline), ...callerWarnings(config, pipeline)].map(
      formatProblem,
    ),
    ...weakSecrets(env),
  ];
  const warnings = warned.map((warning) => `\nwarning: ${warning}`);
  const tests = isTested ? await configTests.run(file, env) : undefined;
  const output = `${text}${online?.text ?? ''}${tests ? testText(tests) : ''}${warnings.join('')}${warnings.length > 0 ? '\n' : ''}`;
  return { text: output, exitCode: online?.hasPassed === false || hasFailed(tests) ? 1 : 0 };
}

function namedText(name: string, { pipelines }: Pick<Pipeline, 'pipelines'>): string {
  const found = pipelines.find((pipeline) => pipeline.name === name);
  if (found) return describeNamed(found);
  const names = pipelines.map((pipeline) => pipeline.name).join(', ');
  throw new Error(
    `There is no pipeline ${JSON.stringify(name)}; ${names ? `known: ${names}` : 'the config names none'}.`,
  );
}

/** Throws an error; a ConfigError with the problems of the tests as well. */
function alsoTelling(ofTests: readonly ConfigProblem[]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof ConfigError)) throw error;
    const known = new Set(error.problems.map(formatProblem));
    throw new ConfigError([
      ...error.problems,
      ...ofTests.filter((problem) => !known.has(formatProblem(problem))),
    ]);
  };
}

function hasFailed(tests: TestVerdict | undefined): boolean {
  return tests !== undefined && tests.failures.length > 0;
}

function testText({ passed, failures }: TestVerdict): string {
  const lines = failures.map(({ message }) => `  ${message}\n`);
  return `\ntests: ${passed} passed${failures.length > 0 ? ', and these failed:' : ''}\n${lines.join('')}`;
}
