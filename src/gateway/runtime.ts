import path from 'node:path';
import { ConfigError, formatProblem, StartError, type Config } from '../config/config.js';
import { budgetProblems, budgetWarnings, warnOfUncountedBudgets } from './budgets.js';
import { callerWarnings, warnOfKeyNames } from './caller-warnings.js';
import { allStages, warningsOf } from '../config/rules.js';
import { loadFormats } from '../engine/pipeline/load/load-formats.js';
import { Pipeline, type BuildOptions } from '../engine/pipeline/run/pipeline.js';
import { builtinFolder } from '../engine/pipeline/load/import/resolve.js';
import type { HostServices } from '../engine/pipeline/run/stage-host.js';
import { formatContext, type Format, type Models } from '../plugin/index.js';
import type { FormatContext } from '../plugin/format/index.js';
import type { GatewayOptions } from './options.js';
import { isLocal, type Services } from './services.js';
import { builtinPolicies } from '../engine/slots/selection/policies.js';

/** The config, catalog and pipeline in force; swapped by a reload. */
export interface Runtime {
  readonly config: Config;
  readonly models: Models;
  readonly formats: readonly Format[];
  readonly pipeline: Pipeline;
  /** The context of a format that answers a route itself. */
  readonly formatContext: FormatContextOf;
}

type FormatContextOf = (ctx: Parameters<typeof formatContext>[1]) => FormatContext;

/**
 * Builds the first runtime of a gateway and starts its plugins; a check starts nothing. Throws ConfigError, and a
 * StartError, with all problems.
 */
export async function startRuntime(
  config: Config,
  models: Models,
  services: Services,
  options: GatewayOptions,
): Promise<Runtime> {
  const runtime = await buildRuntime(config, models, services, buildOptions(options));
  await startPlugins(runtime, services, options);
  if (!options.isCheck)
    await Promise.all([warnOfUncountedBudgets(runtime.pipeline, services), warnOfKeyNames(config, services)]);
  return runtime;
}

/**
 * Starts slots, then takes those of the console, then starts the stages; a check starts nothing. Throws a StartError with
 * all problems.
 */
async function startPlugins(runtime: Runtime, services: Services, options: GatewayOptions): Promise<void> {
  try {
    await startEach(runtime, services, options);
  } catch (error) {
    throw error instanceof ConfigError ? new StartError(error.problems) : error;
  }
}

async function startEach(
  { config, pipeline }: Runtime,
  { slots, slotSources, knownModels }: Services,
  { isCheck = false }: GatewayOptions,
): Promise<void> {
  try {
    if (!isCheck) await slots.start();
    await slotSources.take(config);
  } catch (error) {
    await pipeline.retire();
    throw error;
  }
  if (isCheck) return;
  await pipeline.start();
  if (config.slots.some(({ discovers }) => discovers)) knownModels.refresh();
}

/** Options of a pipeline by those of its gateway. */
export function buildOptions({ pluginTimeoutMs, isStrict = false, dry }: GatewayOptions): BuildOptions {
  return {
    isStrict,
    watch: dry?.watch,
    ...(pluginTimeoutMs !== undefined && { timeoutMs: pluginTimeoutMs }),
  };
}

/** Builds the pipeline of a config on top of the services. Throws ConfigError with all problems. */
export async function buildRuntime(
  config: Config,
  models: Models,
  services: Services,
  options: BuildOptions = {},
): Promise<Runtime> {
  const { log } = services;
  const { formats, owners, problems } = await loadFormats(config.formats, allStages(config), {
    baseDir: config.baseDir,
    builtins: builtinFolder,
    ...options,
  });
  for (const warning of warningsOf(config)) log.warn({ path: warning.path }, formatProblem(warning));
  const userAgent = config.officialClient.userAgent ? new RegExp(config.officialClient.userAgent) : undefined;
  const host: HostServices = {
    ...services,
    models,
    formats: byName(formats),
    builtinPolicies,
    isLocal: services.isLocal && isLocal(config.listen),
    resolvePath: (file) => path.resolve(config.baseDir, file),
    isOfficialClient: (agent) => userAgent?.test(agent.slice(0, maxAgentLength)) ?? false,
  };
  const pipeline = await Pipeline.build(config, host, { ...options, problems, routeOwners: owners });
  const uncounted = budgetProblems(pipeline);
  if (uncounted.length > 0) throw new ConfigError([...uncounted, ...(await pipeline.retire())]);
  for (const warning of [...budgetWarnings(config, pipeline), ...callerWarnings(config, pipeline)])
    log.warn({ path: warning.path }, formatProblem(warning));
  const encoding = { ...host, limits: (name?: string) => pipeline.limitsOf(name) };
  return { config, models, formats, pipeline, formatContext: (ctx) => formatContext(encoding, ctx) };
}

function byName(formats: readonly Format[]): HostServices['formats'] {
  const known = new Map(formats.map((format) => [format.name, format]));
  return {
    get(name) {
      const format = known.get(name);
      if (!format)
        throw new Error(`unknown format "${name}"; known formats: ${[...known.keys()].join(', ')}`);
      return format;
    },
  };
}

/**
 * Max length of a user agent for the operator's pattern: on a longer text, a pattern that backtracks takes
 * too long.
 */
const maxAgentLength = 512;

/** Makes a value from a runtime, once for each. */
export function perRuntime<Value extends object>(
  make: (runtime: Runtime) => Value,
): (runtime: Runtime) => Value {
  const made = new WeakMap<Runtime, Value>();
  return (runtime) => {
    const known = made.get(runtime);
    if (known) return known;
    const value = make(runtime);
    made.set(runtime, value);
    return value;
  };
}
