import type Koa from 'koa';
import { ConfigError, type Config, type ConfigProblem, type StageConfig } from '../config/config.js';
import { operations } from '../config/schema.js';
import { LateError, within, type Limits, type Operation } from '../plugin/internal.js';
import { Disposers } from './disposers.js';
import { loadStages, type LoadedStage } from './load-stages.js';
import { pluginTimeoutMs } from './plugin-timeout.js';
import { builtinFolder } from './resolve.js';
import { createPolicies, stageHost, type HostServices, type Registrations } from './stage-host.js';
import { toStageInfo, type StageInfo } from './stage-info.js';
import { composeStages, type Stage } from './traced.js';
import { whenMatcher } from './when.js';

export interface BuildOptions {
  /** The folder of the built-in plugins. */
  readonly builtins?: string;
  /** Time limit for each plugin to load and to set up, and for all of them to dispose; default 10 s. */
  readonly timeoutMs?: number;
  /** Problems of other parts of the config, reported with those of the stages. */
  readonly problems?: readonly ConfigProblem[];
}

/** The stages of one config, set up, from its first request to the end of its last response. */
export class Pipeline {
  /** As they stand in the config, those that are switched off included. */
  readonly stages: readonly StageInfo[];
  /** As its stages have announced them. */
  readonly limits: Limits;
  readonly #middleware: ReadonlyMap<Operation, Koa.Middleware>;
  readonly #disposers: Disposers;
  #inside = 0;
  #retirement: Promise<readonly ConfigProblem[]> | undefined;
  #emptied: () => void = () => undefined;

  private constructor(
    configs: readonly StageConfig[],
    ready: readonly ReadyStage[],
    { limits, disposers }: Registrations,
  ) {
    this.limits = limits;
    this.stages = configs.map((config) =>
      toStageInfo(
        config,
        ready.find((stage) => stage.config === config),
      ),
    );
    this.#middleware = new Map(operations.map((operation) => [operation, composeFor(operation, ready)]));
    this.#disposers = disposers;
  }

  /** Loads, checks and sets up the stages. Throws a ConfigError with all problems, after a clean-up. */
  static async build(
    config: Config,
    services: HostServices,
    { builtins = builtinFolder, timeoutMs = pluginTimeoutMs, problems: known = [] }: BuildOptions = {},
  ): Promise<Pipeline> {
    const loading = { baseDir: config.baseDir, builtins, timeoutMs };
    const { stages, problems } = await loadStages(config.pipeline, loading);
    if (known.length + problems.length > 0) throw new ConfigError([...known, ...problems]);
    const disposers = new Disposers(services.log, timeoutMs);
    const policies = createPolicies(services.builtinPolicies);
    const registrations: Registrations = { policies, disposers, limits: {} };
    const { ready, problems: refusals } = await setUpAll(stages, services, registrations, timeoutMs);
    if (refusals.length === 0) return new Pipeline(config.pipeline, ready, registrations);
    throw new ConfigError([...refusals, ...(await disposers.run())]);
  }

  /** The stages that requests of this kind pass, as one middleware. */
  middlewareFor(operation: Operation): Koa.Middleware {
    return this.#middleware.get(operation) ?? composeStages([]);
  }

  /** Counts a request in; `leave` must be called once its response has closed. */
  enter(): void {
    this.#inside += 1;
  }

  leave(): void {
    this.#inside -= 1;
    if (this.#inside === 0) this.#emptied();
  }

  /**
   * Retires the pipeline: takes no more requests, drains those under way, then disposes the stages. Returns
   * the problems of that, which are also logged.
   */
  retire(): Promise<readonly ConfigProblem[]> {
    this.#retirement ??= this.#whenEmpty().then(() => this.#disposers.run());
    return this.#retirement;
  }

  #whenEmpty(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#inside === 0) resolve();
      else this.#emptied = resolve;
    });
  }
}

/** A stage that requests can pass. */
interface ReadyStage extends LoadedStage {
  readonly stage: Stage;
}

/**
 * Sets up the stages in order, so that each finds the registrations of those above. Stops at a timeout, as
 * the stages below would have to be waited for too.
 */
async function setUpAll(
  stages: readonly LoadedStage[],
  services: HostServices,
  registrations: Registrations,
  timeoutMs: number,
): Promise<{ ready: readonly ReadyStage[]; problems: readonly ConfigProblem[] }> {
  const ready: ReadyStage[] = [];
  const problems: ConfigProblem[] = [];
  for (const stage of stages) {
    const { stage: made, problem, isLate } = await setUp(stage, services, registrations, timeoutMs);
    if (made) ready.push({ ...stage, stage: made });
    else problems.push(problem);
    if (isLate) break;
  }
  return { ready, problems };
}

type SetUp =
  | { readonly stage: Stage; readonly problem?: never; readonly isLate?: never }
  | { readonly stage?: never; readonly problem: ConfigProblem; readonly isLate: boolean };

async function setUp(
  stage: LoadedStage,
  services: HostServices,
  registrations: Registrations,
  timeoutMs: number,
): Promise<SetUp> {
  const { config, plugin, options } = stage;
  const host = stageHost(services, stage, registrations);
  const late = `has not been set up within ${timeoutMs / 1000} s: its setup waits for something that does not come`;
  try {
    const made = (async () => plugin.setup(options, host))();
    const middleware: unknown = await within(made, timeoutMs, late);
    if (typeof middleware !== 'function')
      return refused(stage, `gave ${String(middleware)} in place of a middleware; it must return a function`);
    const place = { stage: plugin.name, path: config.path };
    const takes = whenMatcher(config.when, services.models);
    return { stage: { place, middleware: middleware as Koa.Middleware, takes } }; // any function is taken for one
  } catch (error) {
    if (error instanceof LateError) return { ...refused(stage, error.message), isLate: true };
    const why = error instanceof Error ? error.message : String(error);
    return refused(stage, `cannot be set up: ${why}`);
  }
}

function refused({ config: { at, path }, plugin: { name } }: LoadedStage, message: string) {
  return { problem: { at, path, subject: name, message }, isLate: false };
}

function composeFor(operation: Operation, stages: readonly ReadyStage[]): Koa.Middleware {
  const passed = stages.filter(({ plugin }) => plugin.operations.includes(operation));
  return composeStages(passed.map(({ stage }) => stage));
}
