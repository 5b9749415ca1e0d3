import type Koa from 'koa';
import { ConfigError, type Config, type ConfigProblem, type StageConfig } from '../../../config/config.js';
import { operations } from '../../../config/stage-schema.js';
import { markedTexts } from '../../../kit/schema/redact.js';
import type { Interceptor, Limits, ServedRoute } from '../../../plugin/core.js';
import type { Operation } from '../../../plugin/index.js';
import { Disposers } from './disposers.js';
import { loadStages, type LoadedStage } from '../load/load-stages.js';
import { pluginTimeoutMs } from '../load/load-plugin.js';
import { builtinFolder, builtinNames } from '../load/import/resolve.js';
import type { RouteOwner } from '../order/route-owners.js';
import { placeOf, setUpAll, type ReadyStage } from './set-up.js';
import { StageRoutes } from './stage-routes.js';
import { createPolicies, type HostServices, type Registrations } from './stage-host.js';
import { toStageInfo, type StageInfo } from './stage-info.js';
import { startAll } from './start.js';
import { composeStages } from './traced.js';
import type { PipelineWatch } from './watch.js';

export interface BuildOptions {
  /** The folder of the built-in plugins. */
  readonly builtins?: string;
  /** Time limit for each plugin to load, to set up and to start, and for all of them to dispose; default 10 s. */
  readonly timeoutMs?: number;
  /**
   * True: each stage may use only the state keys that it has declared, and gives them their shapes (`GW_STRICT=1`).
   */
  readonly isStrict?: boolean;
  /** Watches each request on its way through the stages. */
  readonly watch?: PipelineWatch | undefined;
  /** Problems of other parts of the config, reported with those of the stages. */
  readonly problems?: readonly ConfigProblem[];
  /** Formats with their paths, which no stage may bring. */
  readonly routeOwners?: readonly RouteOwner[];
}

/** Probe of a plugin, for a check of the config. */
export interface Probe {
  readonly name: string;
  /** `pipeline[3]`. */
  readonly path: string;
  readonly run: () => void | Promise<void>;
  /** Secrets that no message may contain. */
  readonly secrets: readonly string[];
}

/** The stages of one config, set up, from its first request to the end of its last response. */
export class Pipeline {
  /** Stages in the order of the config, disabled ones included. */
  readonly stages: readonly StageInfo[];
  /** Limits that the stages have announced. */
  readonly limits: Limits;
  readonly notices: readonly string[];
  /** Paths that its stages have brought. */
  readonly routes: readonly ServedRoute[];
  readonly #middleware: ReadonlyMap<Operation, Koa.Middleware>;
  readonly #ready: readonly ReadyStage[];
  readonly #timeoutMs: number;
  readonly #disposers: Disposers;
  #inside = 0;
  #retirement: Promise<readonly ConfigProblem[]> | undefined;
  #emptied: () => void = () => undefined;

  private constructor(
    configs: readonly StageConfig[],
    ready: readonly ReadyStage[],
    { limits, notices, disposers, routes, watch }: Registrations,
    timeoutMs: number,
  ) {
    this.limits = limits;
    this.notices = notices;
    this.routes = routes.served();
    this.#ready = ready;
    this.#timeoutMs = timeoutMs;
    this.stages = configs.map((config) =>
      toStageInfo(
        config,
        ready.find((stage) => stage.config === config),
      ),
    );
    watch?.built(this.stages);
    this.#middleware = new Map(
      operations.map((operation) => [operation, composeFor(operation, ready, watch)]),
    );
    this.#disposers = disposers;
  }

  /** Loads, checks and sets up the stages. Throws a ConfigError with all problems, after a clean-up. */
  static async build(config: Config, services: HostServices, options: BuildOptions = {}): Promise<Pipeline> {
    const { builtins = builtinFolder, timeoutMs = pluginTimeoutMs, problems: known = [] } = options;
    const loading = { baseDir: config.baseDir, builtins, timeoutMs };
    const { stages, problems } = await loadStages(config.pipeline, loading);
    if (known.length + problems.length > 0) throw new ConfigError([...known, ...problems]);
    const disposers = new Disposers(services.log, timeoutMs);
    const policies = createPolicies(services.builtinPolicies);
    const routes = new StageRoutes(services.formats, (stage) => placeOf(stage, services.stageMetrics));
    const registrations: Registrations = {
      policies,
      disposers,
      builtins: new Set(await builtinNames(builtins)),
      routes,
      notices: [],
      limits: {},
      counts: new Map(),
      providers: options.isStrict ? new Map() : undefined,
      watch: options.watch,
    };
    const { ready, problems: faults } = await setUpAll(stages, services, registrations, timeoutMs);
    const refusals = [...faults, ...routes.close(options.routeOwners ?? [])];
    if (refusals.length === 0) return new Pipeline(config.pipeline, ready, registrations, timeoutMs);
    throw new ConfigError([...refusals, ...(await disposers.run())]);
  }

  /** Starts the stages, all at once. Throws a ConfigError with the problems of all, after a clean-up. */
  async start(): Promise<void> {
    const problems = await startAll(this.#ready, this.#timeoutMs);
    if (problems.length > 0) throw new ConfigError([...problems, ...(await this.retire())]);
  }

  /** Enabled stages by their entries. */
  get loaded(): ReadonlyMap<StageConfig, LoadedStage> {
    return new Map(this.#ready.map((stage) => [stage.config, stage]));
  }

  /** Probes of the stages that have one, top to bottom. */
  get probes(): readonly Probe[] {
    return this.#ready.flatMap(({ parts: { probe }, plugin, config, options }) =>
      probe
        ? [
            {
              name: plugin.name,
              path: config.path,
              run: probe,
              secrets: markedTexts(options, plugin.options),
            },
          ]
        : [],
    );
  }

  /** Texts of options that plugins mark as secret. */
  get secrets(): readonly string[] {
    return this.#ready.flatMap(({ options, plugin }) => markedTexts(options, plugin.options));
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
   * Retires the pipeline: takes no more requests, drains the running ones, then disposes the stages. Returns the
   * problems of that, which are also logged.
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

function composeFor(
  operation: Operation,
  stages: readonly ReadyStage[],
  watch: PipelineWatch | undefined,
): Koa.Middleware {
  const passed = stages.filter(({ plugin }) => plugin.operations.includes(operation));
  const stagesOf = passed.flatMap(({ stage }) => stage ?? []);
  const outermost = passed.flatMap((stage) => stage.outermost ?? []);
  if (operation === 'generate') return seeded(outermost, composeStages(stagesOf, watch));
  const unwrapped = stagesOf.map((stage) => ({ ...stage, interceptor: undefined })); // there is no call to wrap
  return composeStages(unwrapped, watch);
}

/** Middleware whose requests begin with these interceptors. */
function seeded(interceptors: readonly Interceptor[], stages: Koa.Middleware): Koa.Middleware {
  if (interceptors.length === 0) return stages;
  const list = Object.freeze([...interceptors]);
  return (ctx, next) => {
    (ctx.state as { interceptors: readonly Interceptor[] }).interceptors = list; // Koa types its state as anything
    return stages(ctx, next);
  };
}
