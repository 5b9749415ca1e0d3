import type { ConfigProblem, StageConfig } from '../../../config/config.js';
import { operations } from '../../../config/stage-schema.js';
import type { Plugin } from '../../../plugin/index.js';
import { loadBuiltins, loadEntry, type Loading } from './load-plugin.js';
import type { OrderedStage } from '../order/order-stage.js';
import { checkOrder } from '../order/order.js';
import { stageKind } from './stage-kind.js';

/** A stage of the config with its plugin and its options, defaults filled in. */
export interface LoadedStage {
  readonly config: StageConfig;
  /** Name of its entry, if it has one; else that of its plugin. */
  readonly plugin: Plugin;
  readonly options: object;
}

export interface LoadedStages {
  /** Enabled stages that could be loaded. */
  readonly stages: readonly LoadedStage[];
  /** Problems of the plugins, their options and their order. */
  readonly problems: readonly ConfigProblem[];
}

interface ValidStages {
  readonly stages: readonly LoadedStage[];
  readonly builtins: string;
}

/** Stages without a problem by their entries: the tests of a config build many pipelines of the same ones. */
const valid = new WeakMap<readonly StageConfig[], ValidStages>();

/**
 * Loads a pipeline's plugins and checks their options and order, once for the entries of a config that has been
 * read. Returns config errors, never throws them.
 */
export async function loadStages(configs: readonly StageConfig[], where: Loading): Promise<LoadedStages> {
  const known = valid.get(configs);
  if (known?.builtins === where.builtins) return { stages: known.stages.map(withOwnOptions), problems: [] };
  const { stages, problems } = await loadAll(configs, where);
  if (problems.length === 0) valid.set(configs, { stages, builtins: where.builtins });
  return { stages: stages.map(withOwnOptions), problems };
}

/** A stage whose options its plugin may change. */
function withOwnOptions(stage: LoadedStage): LoadedStage {
  return { ...stage, options: structuredClone(stage.options) };
}

async function loadAll(configs: readonly StageConfig[], where: Loading): Promise<LoadedStages> {
  const on = configs.filter(({ enabled }) => enabled);
  const attempts = await Promise.all(on.map((config) => loadStage(config, where)));
  const order = await orderProblems(attempts, configs, where);
  return {
    stages: attempts.flatMap(({ stage }) => stage ?? []),
    problems: [...attempts.flatMap(({ problems }) => problems), ...order],
  };
}

interface Attempt {
  readonly config: StageConfig;
  /** Undefined if the plugin could not be loaded. */
  readonly stage: LoadedStage | undefined;
  readonly problems: readonly ConfigProblem[];
}

async function loadStage(config: StageConfig, where: Loading): Promise<Attempt> {
  const { plugin, options, problems } = await loadEntry(stageKind, config, where);
  const stage = plugin && { config, plugin: { ...plugin, name: config.name ?? plugin.name }, options };
  return { config, stage, problems: config.isBroken ? [] : problems };
}

/** Loads the built-ins for their names in messages only if there is a problem. */
async function orderProblems(
  attempts: readonly Attempt[],
  configs: readonly StageConfig[],
  where: Loading,
): Promise<readonly ConfigProblem[]> {
  const at = configs.at(-1)?.at;
  if (!at) return [];
  const off = configs.filter(({ enabled }) => !enabled);
  const order = { stages: attempts.map(toOrdered), at, off, builtins: [] };
  if (checkOrder(order).length === 0) return [];
  return checkOrder({ ...order, builtins: await loadBuiltins(stageKind, where) });
}

function toOrdered({ config, stage }: Attempt): OrderedStage {
  const { use, name = use, when, group, skipsErrors = false, path, at } = config;
  const nothing = { name, requires: [], provides: [], seals: [], operations };
  return { ...(stage?.plugin ?? nothing), when, group, skipsErrors, path, at, isUnknown: !stage };
}
