import { formatProblem, type Config } from '../config/config.js';
import { warningsOf } from '../config/warnings.js';
import { createFormats } from '../formats/index.js';
import type { KnownModels } from '../models/known-models.js';
import { CatalogModels } from '../models/models.js';
import { Pipeline, type BuildOptions } from '../pipeline/pipeline.js';
import type { HostServices } from '../pipeline/stage-host.js';
import type { Models } from '../plugin/index.js';
import { builtinPolicies } from '../slots/selection/policies.js';

/** The config, catalog and pipeline in force; swapped by a reload. */
export interface Runtime {
  readonly config: Config;
  readonly models: Models;
  readonly pipeline: Pipeline;
}

type Parts = Pick<
  HostServices,
  'log' | 'store' | 'live' | 'metrics' | 'slots' | 'now' | 'keys' | 'pseudonym'
> & {
  readonly knownModels: KnownModels;
};

/** Builds the pipeline of a config on top of the services. Throws ConfigError with all problems. */
export async function buildRuntime(config: Config, parts: Parts, options?: BuildOptions): Promise<Runtime> {
  const { log, store, live, metrics, slots, now, keys, pseudonym } = parts;
  const models = new CatalogModels(config.models, parts.knownModels);
  for (const warning of warningsOf(config)) log.warn({ path: warning.path }, formatProblem(warning));
  const userAgent = config.officialClient.userAgent ? new RegExp(config.officialClient.userAgent) : undefined;
  const services: HostServices = {
    log,
    models,
    slots,
    store,
    live,
    metrics,
    keys,
    pseudonym,
    now,
    formats: createFormats(),
    builtinPolicies,
    isOfficialClient: (agent) => userAgent?.test(agent.slice(0, maxAgentLength)) ?? false,
  };
  return { config, models, pipeline: await Pipeline.build(config, services, options) };
}

/**
 * Max length of a user agent for the operator's pattern: on a longer text, a pattern that backtracks takes
 * too long.
 */
const maxAgentLength = 512;
