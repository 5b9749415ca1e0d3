import type { Problem, StageConfig } from '../config/config.js';
import { explain } from '../config/checked.js';
import { writePath, type Path } from '../config/document.js';
import { operations } from '../config/schema.js';
import { compileCheck, within, type Plugin } from '../plugin/index.js';
import { asPlugin } from './as-plugin.js';
import type { OrderedStage, Provider } from './order-stage.js';
import { checkOrder } from './order.js';
import { pluginTimeoutMs } from './plugin-timeout.js';
import { builtinNames, importModule, type ResolveOptions } from './resolve.js';

export interface Loading extends ResolveOptions {
  /** Time limit for a module to load; default 10 s. */
  readonly timeoutMs?: number;
}

/** A stage of the config with its plugin and its options, defaults filled in. */
export interface LoadedStage {
  readonly config: StageConfig;
  readonly plugin: Plugin;
  readonly options: object;
}

export interface LoadedStages {
  /** Enabled stages that could be loaded. */
  readonly stages: readonly LoadedStage[];
  /** Problems of the plugins, their options and their order. */
  readonly problems: readonly Problem[];
}

/**
 * Loads a pipeline's plugins and checks their options and order. Returns config errors, never throws them.
 */
export async function loadStages(
  configs: readonly StageConfig[],
  surroundings: Loading,
): Promise<LoadedStages> {
  const on = configs.filter(({ enabled }) => enabled);
  const attempts = await Promise.all(on.map((config) => loadStage(config, surroundings)));
  const order = await orderProblems(attempts, configs, surroundings.builtins);
  return {
    stages: attempts.flatMap(({ stage }) => stage ?? []),
    problems: [...attempts.flatMap(({ problems }) => problems), ...order],
  };
}

interface Attempt {
  readonly config: StageConfig;
  /** Undefined where the plugin could not be loaded. */
  readonly stage: LoadedStage | undefined;
  readonly problems: readonly Problem[];
}

async function loadStage(config: StageConfig, surroundings: Loading): Promise<Attempt> {
  const plugin = await loadPlugin(config.use, surroundings);
  if (config.isBroken) {
    const stage = plugin instanceof Error ? undefined : { config, plugin, options: {} };
    return { config, stage, problems: [] };
  }
  if (plugin instanceof Error)
    return { config, stage: undefined, problems: [useProblem(config, plugin.message)] };
  const options = structuredClone(config.with);
  const problems = checkOptions(config, plugin, options);
  return { config, stage: { config, plugin, options }, problems };
}

async function loadPlugin(use: string, surroundings: Loading): Promise<Plugin | Error> {
  const { timeoutMs = pluginTimeoutMs } = surroundings;
  const late = `has not loaded within ${timeoutMs / 1000} s: an await at the top level of its module does not end`;
  try {
    return asPlugin(await within(importModule(use, surroundings), timeoutMs, late), use);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Fills the schema's defaults into `options`. */
function checkOptions(config: StageConfig, plugin: Plugin, options: unknown): readonly Problem[] {
  try {
    const mismatches = compileCheck(plugin.options, { useDefaults: true })(options);
    return mismatches.map((mismatch) =>
      problemAt(config, ['with', ...mismatch.path], explain(mismatch, config.with)),
    );
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [useProblem(config, `has options that are no JSON Schema: ${why}`)];
  }
}

function useProblem(config: StageConfig, message: string): Problem {
  return { ...problemAt(config, ['use'], message), subject: config.use };
}

function problemAt(config: StageConfig, path: Path, message: string): Problem {
  return { at: config.positionOf(path), path: `${config.path}.${writePath(path)}`, message };
}

/** The built-ins are loaded for their names in messages only where there is something to say. */
async function orderProblems(
  attempts: readonly Attempt[],
  configs: readonly StageConfig[],
  folder: string,
): Promise<readonly Problem[]> {
  const at = configs.at(-1)?.at;
  if (!at) return [];
  const off = configs.filter(({ enabled }) => !enabled);
  const order = { stages: attempts.map(toOrdered), at, off, builtins: [] };
  if (checkOrder(order).length === 0) return [];
  return checkOrder({ ...order, builtins: await loadBuiltins(folder) });
}

function toOrdered({ config: { use, when, path, at }, stage }: Attempt): OrderedStage {
  const nothing = { name: use, requires: [], provides: [], seals: [], operations };
  return { ...(stage?.plugin ?? nothing), when, path, at, isUnknown: !stage };
}

async function loadBuiltins(folder: string): Promise<readonly Provider[]> {
  const names = await builtinNames(folder);
  const plugins = await Promise.all(
    names.map((name) => loadPlugin(name, { baseDir: folder, builtins: folder })),
  );
  return plugins.flatMap((plugin) => (plugin instanceof Error ? [] : plugin));
}
