import type { ConfigProblem, IsolationConfig, PipelineConfig, StageConfig } from '../../../config/config.js';
import { allStages } from '../../../config/rules.js';
import { operations } from '../../../config/stage-schema.js';
import type { Plugin } from '../../../plugin/index.js';
import type { IsolatedStage } from '../../isolation/isolated-stage.js';
import { loadBuiltins, loadEntry, type Loading } from './load-plugin.js';
import { headLength, headProblems } from '../order/head.js';
import type { Order, OrderedStage } from '../order/order-stage.js';
import { checkOrder } from '../order/order.js';
import { stageKind } from './stage-kind.js';

/** A stage of the config with its plugin and its options, defaults filled in. */
export interface LoadedStage {
  readonly config: StageConfig;
  /** Name of its entry, if it has one, else that of its plugin; of a named pipeline's own entry `red/dlp`. */
  readonly plugin: Plugin;
  readonly options: object;
  /** Its child process; absent: it runs in the gateway's own. */
  readonly isolated?: IsolatedStage;
}

export interface LoadedStages {
  /** Enabled stages that could be loaded: those of the default pipeline, then those that each other one brings. */
  readonly stages: readonly LoadedStage[];
  /** Number of entries' stages at the top of each pipeline that are common to all, disabled ones included. */
  readonly head: number;
  /** Problems of the plugins, their options and their order. */
  readonly problems: readonly ConfigProblem[];
}

interface ValidStages extends Omit<LoadedStages, 'problems'> {
  readonly builtins: string;
  readonly pipelines: readonly PipelineConfig[];
}

/** Stages without a problem by their entries: the tests of a config build many pipelines of the same ones. */
const valid = new WeakMap<readonly StageConfig[], ValidStages>();

const none: readonly PipelineConfig[] = [];

/**
 * Loads the plugins of the default pipeline and of named ones, and checks their options and the order of each
 * pipeline, once for the entries of a config that has been read. Returns config errors, never throws them.
 */
export async function loadStages(
  configs: readonly StageConfig[],
  where: Loading,
  pipelines: readonly PipelineConfig[] = none,
): Promise<LoadedStages> {
  const known = valid.get(configs);
  if (known?.builtins === where.builtins && known.pipelines === pipelines)
    return { stages: known.stages.map(withOwnOptions), head: known.head, problems: [] };
  const { stages, head, problems } = await loadAll(configs, where, pipelines);
  if (problems.length === 0) valid.set(configs, { stages, head, pipelines, builtins: where.builtins });
  return { stages: stages.map(withOwnOptions), head, problems };
}

/** A stage whose options its plugin may change. */
function withOwnOptions(stage: LoadedStage): LoadedStage {
  return { ...stage, options: structuredClone(stage.options) };
}

async function loadAll(
  configs: readonly StageConfig[],
  where: Loading,
  pipelines: readonly PipelineConfig[],
): Promise<LoadedStages> {
  const on = allStages({ pipeline: configs, pipelines }).filter(({ enabled }) => enabled);
  const attempts = new Map(
    await Promise.all(on.map(async (config) => [config, await loadStage(config, where)] as const)),
  );
  const pluginOf = (config: StageConfig) => attempts.get(config)?.stage?.plugin;
  const head = headLength(configs, pluginOf);
  return {
    stages: [...attempts.values()].flatMap(({ stage }) => stage ?? []),
    head,
    problems: [
      ...[...attempts.values()].flatMap(({ problems }) => problems),
      ...headProblems(configs, head, pipelines),
      ...(await orderProblems(attempts, [configs, ...pipelines], where)),
    ],
  };
}

interface Attempt {
  readonly config: StageConfig;
  /** Undefined if the plugin could not be loaded. */
  readonly stage: LoadedStage | undefined;
  readonly problems: readonly ConfigProblem[];
}

async function loadStage(config: StageConfig, where: Loading): Promise<Attempt> {
  const { baseDir = where.baseDir } = config;
  const loading = { ...where, baseDir };
  const { plugin, options, problems, isolated } = config.isolation
    ? await loadInProcess(config, config.isolation, loading)
    : { ...(await loadEntry(stageKind, config, loading)), isolated: undefined };
  const named = plugin && { ...plugin, name: stageName(config, plugin) };
  const stage = named && { config, plugin: named, options, ...(isolated && { isolated }) };
  return { config, stage, problems: config.isBroken ? [] : problems };
}

async function loadInProcess(config: StageConfig, isolation: IsolationConfig, where: Loading) {
  const { loadIsolated } = await import('./load-isolated.js');
  return loadIsolated(config, isolation, where);
}

function stageName({ name, pipeline }: StageConfig, plugin: Plugin): string {
  const own = name ?? plugin.name;
  return pipeline === undefined ? own : `${pipeline}/${own}`;
}

type Attempts = ReadonlyMap<StageConfig, Attempt>;

/**
 * Problems of the order of each list; those of a named pipeline that the default one has, too, are reported once.
 * Loads the built-ins for their names in messages only if there is a problem.
 */
async function orderProblems(
  attempts: Attempts,
  lists: readonly (readonly StageConfig[] | PipelineConfig)[],
  where: Loading,
): Promise<readonly ConfigProblem[]> {
  const orders = lists.flatMap((list) => orderOf(list, attempts) ?? []);
  if (orders.every((order) => checkOrder(order).length === 0)) return [];
  const builtins = await loadBuiltins(stageKind, where);
  const reported = new Set<string>();
  return orders.flatMap(({ pipeline, ...order }) => {
    const found = checkOrder({ ...order, builtins });
    const fresh = found.filter(({ at, path, message }) => {
      const text = JSON.stringify([at, path, message]);
      const isNew = !reported.has(text);
      if (pipeline === undefined) reported.add(text);
      return isNew;
    });
    return pipeline === undefined ? fresh : fresh.map((problem) => ({ ...problem, pipeline }));
  });
}

interface ListOrder extends Order {
  readonly pipeline?: string;
}

function orderOf(list: readonly StageConfig[] | PipelineConfig, attempts: Attempts): ListOrder | undefined {
  const named = 'stages' in list ? list : undefined;
  const configs = 'stages' in list ? list.stages : list;
  const at = named?.at ?? configs.at(-1)?.at;
  if (!at) return undefined;
  const stages = configs.flatMap((config) => {
    const attempt = attempts.get(config);
    return attempt ? [toOrdered(attempt)] : [];
  });
  const off = configs.filter(({ enabled }) => !enabled);
  return { stages, at, off, builtins: [], ...(named && { pipeline: named.name }) };
}

function toOrdered({ config, stage }: Attempt): OrderedStage {
  const { use, name = use, when, group, skipsErrors = false, path, at } = config;
  const nothing = { name, requires: [], provides: [], seals: [], operations };
  return { ...(stage?.plugin ?? nothing), when, group, skipsErrors, path, at, isUnknown: !stage };
}
