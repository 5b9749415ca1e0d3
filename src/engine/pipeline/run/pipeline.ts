import type Koa from 'koa';
import { ConfigError, type Config, type ConfigProblem, type StageConfig } from '../../../config/config.js';
import { allStages } from '../../../config/rules.js';
import { operations } from '../../../config/stage-schema.js';
import { markedTexts } from '../../../kit/schema/redact.js';
import { defaultPipeline, type Limits, type ServedRoute } from '../../../plugin/core.js';
import type { Operation } from '../../../plugin/index.js';
import { PipelineCalls, type ListedStage } from '../call/pipeline-calls.js';
import { composeFor, pipelineStages } from './compose-for.js';
import { Disposers } from './disposers.js';
import { loadStages, type LoadedStage } from '../load/load-stages.js';
import { pluginTimeoutMs } from '../load/load-plugin.js';
import { builtinFolder, builtinNames } from '../load/import/resolve.js';
import type { RouteOwner } from '../order/route-owners.js';
import { placeOf, setUpAll, type ReadyStage } from './set-up.js';
import { StageRoutes } from './stage-routes.js';
import { createPolicies, type HostServices, type Registrations } from './stage-host.js';
import { toPipelineInfo, type PipelineInfo } from './pipeline-info.js';
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

/** Stages of a config that have been set up. */
interface PipelineParts {
  readonly config: Pick<Config, 'pipeline' | 'pipelines'>;
  readonly ready: readonly ReadyStage[];
  /** Number of stages at the top of each pipeline that are common to all. */
  readonly head: number;
  readonly models: HostServices['models'];
}

/** The stages of one config, set up, from its first request to the end of its last response. */
export class Pipeline {
  /** Stages of the default pipeline in the order of the config, disabled ones included. */
  readonly stages: readonly StageInfo[];
  /** The named pipelines. */
  readonly pipelines: readonly PipelineInfo[];
  /** Limits that the stages of the default pipeline have announced. */
  readonly limits: Limits;
  readonly notices: readonly string[];
  /** Paths that its stages have brought. */
  readonly routes: readonly ServedRoute[];
  readonly #middleware: ReadonlyMap<Operation, Koa.Middleware>;
  readonly #namedLimits: ReadonlyMap<string, Limits>;
  readonly #ready: readonly ReadyStage[];
  readonly #timeoutMs: number;
  readonly #disposers: Disposers;
  #inside = 0;
  #retirement: Promise<readonly ConfigProblem[]> | undefined;
  #emptied: () => void = () => undefined;

  private constructor(parts: PipelineParts, registrations: Registrations, timeoutMs: number) {
    const { config, ready, head, models } = parts;
    const { limits, notices, disposers, routes, watch, policies, calls } = registrations;
    this.limits = limits;
    this.#namedLimits = registrations.namedLimits;
    this.notices = notices;
    this.routes = routes.served();
    this.#ready = ready;
    this.#timeoutMs = timeoutMs;
    const byConfig = new Map(ready.map((stage) => [stage.config, stage]));
    const infos = new Map(allStages(config).map((stage) => [stage, toStageInfo(stage, byConfig.get(stage))]));
    const infoOf = (stage: StageConfig) => infos.get(stage) ?? toStageInfo(stage, undefined);
    this.stages = config.pipeline.map(infoOf);
    this.pipelines = config.pipelines.map((pipeline) => toPipelineInfo(pipeline, infoOf));
    watch?.built(
      new Map([
        [defaultPipeline, this.stages],
        ...config.pipelines.map(({ name, stages }) => [name, stages.map(infoOf)] as const),
      ]),
    );
    const readyOf = (stages: readonly StageConfig[]) => stages.flatMap((stage) => byConfig.get(stage) ?? []);
    const lists = new Map([
      [defaultPipeline, readyOf(config.pipeline)],
      ...config.pipelines.map(({ name, stages }) => [name, readyOf(stages)] as const),
    ]);
    for (const { name, stages } of config.pipelines)
      registrations.namedLimits.set(name, limitsOf(stages, registrations.announced));
    const common = new Set(readyOf(config.pipeline.slice(0, head)));
    const stages = pipelineStages(lists, common, config.pipelines, models);
    this.#middleware = new Map(
      operations.map((operation) => [operation, composeFor(operation, stages, watch)]),
    );
    this.#disposers = disposers;
    calls.open({
      lists: new Map([...lists].map(([name, list]) => [name, list.map(asListed)])),
      policy: () => policies.get(defaultPolicy),
      enter: () => this.enter(),
      leave: () => this.leave(),
      isRetired: () => this.#retirement !== undefined,
    });
  }

  /** Loads, checks and sets up the stages. Throws a ConfigError with all problems, after a clean-up. */
  static async build(config: Config, services: HostServices, options: BuildOptions = {}): Promise<Pipeline> {
    const { builtins = builtinFolder, timeoutMs = pluginTimeoutMs, problems: known = [] } = options;
    const loading = { baseDir: config.baseDir, builtins, timeoutMs };
    const { stages, head, problems } = await loadStages(config.pipeline, loading, config.pipelines);
    if (known.length + problems.length > 0) throw new ConfigError([...known, ...problems]);
    const disposers = new Disposers(services.log, timeoutMs);
    const policies = createPolicies(services.builtinPolicies);
    const routes = new StageRoutes(services.formats, (stage) => placeOf(stage, services.stageMetrics));
    const registrations: Registrations = {
      policies,
      disposers,
      calls: new PipelineCalls(services),
      builtins: new Set(await builtinNames(builtins)),
      routes,
      notices: [],
      limits: {},
      announced: new Map(),
      namedLimits: new Map(),
      counts: new Map(),
      providers: options.isStrict ? new Map() : undefined,
      watch: options.watch,
    };
    const { ready, problems: faults } = await setUpAll(stages, services, registrations, timeoutMs);
    const refusals = [...faults, ...routes.close(options.routeOwners ?? [])];
    const parts = { config, ready, head, models: services.models };
    if (refusals.length === 0) return new Pipeline(parts, registrations, timeoutMs);
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

  /** Largest body that one of the pipelines takes, in bytes; undefined: no stage limits it in one of them. */
  get largestBody(): number | undefined {
    const sizes = [this.limits, ...this.#namedLimits.values()].map(
      ({ max_body_bytes: size }) => size ?? Infinity,
    );
    const largest = Math.max(...sizes);
    return largest === Infinity ? undefined : largest;
  }

  /** Limits of a pipeline by its name; of the default one for any other name. */
  limitsOf(pipeline = ''): Limits {
    return this.#namedLimits.get(pipeline) ?? this.limits;
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

  /** A listener for the end of the last request may still make a call. */
  async #whenEmpty(): Promise<void> {
    while (this.#inside > 0) await new Promise<void>((resolve) => (this.#emptied = resolve));
  }
}

function asListed({ config, stage }: ReadyStage): ListedStage {
  return { config, takes: stage?.takes };
}

/** Policy of calls where no stage picks their slots. */
const defaultPolicy = 'least-loaded';

/** Limits that the stages of a list have announced, the lower stages after those above them. */
function limitsOf(stages: readonly StageConfig[], announced: Registrations['announced']): Limits {
  const limits: Limits = {};
  return Object.assign(limits, ...stages.map((stage) => announced.get(stage)));
}
