import type Koa from 'koa';
import { ConfigError, type Config, type Problem, type StageConfig } from '../config/config.js';
import { operations } from '../config/schema.js';
import type { Limits, Operation } from '../plugin/index.js';
import { loadStages, type LoadedStage } from './load-stages.js';
import { builtinFolder } from './resolve.js';
import { Disposers, createPolicies, stageHost, type HostServices, type Registrations } from './stage-host.js';
import { toStageInfo, type StageInfo } from './stage-info.js';
import { walkThrough, type Passage } from './walk.js';
import { whenMatcher } from './when.js';

export interface BuildOptions {
  /** The folder of the built-in plugins. */
  readonly builtins?: string;
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
  #retirement: Promise<void> | undefined;
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

  /** Loads, checks and sets up the stages. Throws a ConfigError with all that is wrong, after undoing what was set up. */
  static async build(
    config: Config,
    services: HostServices,
    { builtins = builtinFolder }: BuildOptions = {},
  ): Promise<Pipeline> {
    const { stages, problems } = await loadStages(config.pipeline, { baseDir: config.baseDir, builtins });
    if (problems.length > 0) throw new ConfigError(problems);
    const disposers = new Disposers(services.log);
    const policies = createPolicies(services.builtinPolicies);
    const registrations: Registrations = { policies, disposers, limits: {} };
    const { ready, problems: refusals } = await setUpAll(stages, services, registrations);
    if (refusals.length === 0) return new Pipeline(config.pipeline, ready, registrations);
    await disposers.run();
    throw new ConfigError(refusals);
  }

  /** The stages that requests of this kind pass, as one middleware. */
  middlewareFor(operation: Operation): Koa.Middleware {
    return this.#middleware.get(operation) ?? walkThrough([]);
  }

  /** A request has begun; `leave` must be called once its response has closed. */
  enter(): void {
    this.#inside += 1;
  }

  leave(): void {
    this.#inside -= 1;
    if (this.#inside === 0) this.#emptied();
  }

  /** Disposes the stages after the last request that is inside has left; no further one may enter. */
  retire(): Promise<void> {
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
  readonly passage: Passage;
}

/** In their order, so that a stage finds what the ones above have registered. */
async function setUpAll(
  stages: readonly LoadedStage[],
  services: HostServices,
  registrations: Registrations,
): Promise<{ ready: readonly ReadyStage[]; problems: readonly Problem[] }> {
  const ready: ReadyStage[] = [];
  const problems: Problem[] = [];
  for (const stage of stages) {
    const passage = await setUp(stage, services, registrations);
    if ('middleware' in passage) ready.push({ ...stage, passage });
    else problems.push(passage);
  }
  return { ready, problems };
}

async function setUp(
  stage: LoadedStage,
  services: HostServices,
  registrations: Registrations,
): Promise<Passage | Problem> {
  const { config, plugin, options } = stage;
  try {
    const middleware: unknown = await plugin.setup(options, stageHost(services, plugin.name, registrations));
    if (typeof middleware === 'function') {
      return {
        place: { stage: plugin.name, path: config.path },
        middleware: middleware as Koa.Middleware, // any function is taken for one
        takes: whenMatcher(config.when, services.models),
      };
    }
    return problemOf(stage, `gave ${String(middleware)} in place of a middleware; it must return a function`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return problemOf(stage, `cannot be set up: ${why}`);
  }
}

function problemOf({ config: { at, path }, plugin: { name } }: LoadedStage, message: string): Problem {
  return { at, path, subject: name, message };
}

function composeFor(operation: Operation, stages: readonly ReadyStage[]): Koa.Middleware {
  const passed = stages.filter(({ plugin }) => plugin.operations.includes(operation));
  return walkThrough(passed.map(({ passage }) => passage));
}
