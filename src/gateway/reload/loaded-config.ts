import type { LoadedConfig, LoadedPlugin, LoadedSlotPlugins } from '../../config/diff/loaded-config.js';
import { ConfigError, type Config, type SlotConfig, type StageConfig } from '../../config/config.js';
import { allStages } from '../../config/rules.js';
import { loadFormats } from '../../engine/pipeline/load/load-formats.js';
import { defaultsOf, type Loadable } from '../../engine/pipeline/load/load-plugin.js';
import { loadSlots, type LoadedSlot } from '../../engine/pipeline/load/load-slots.js';
import { loadStages, type LoadedStage } from '../../engine/pipeline/load/load-stages.js';
import { builtinFolder } from '../../engine/pipeline/load/import/resolve.js';
import type { Format } from '../../plugin/index.js';
import type { Runtime } from '../runtime.js';

/**
 * Loads the plugins of a checked config without setting them up. Throws a ConfigError with the problems of plugins,
 * their options and their order.
 */
export async function loadPlugins(config: Config): Promise<LoadedConfig> {
  const where = { baseDir: config.baseDir, builtins: builtinFolder };
  const [stages, formats, slots] = await Promise.all([
    loadStages(config.pipeline, where, config.pipelines),
    loadFormats(config.formats, allStages(config), where),
    loadSlots(config.slots, where),
  ]);
  const problems = [stages, formats, slots].flatMap((part) => part.problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const loaded = new Map(stages.stages.map((stage) => [stage.config, stage]));
  return {
    config,
    stages: stagesOf(config.pipeline, loaded),
    pipelines: config.pipelines.map(({ stages: list }) => stagesOf(list, loaded)),
    formats: formats.formats.map(loadedFormat),
    slots: slots.slots.map(loadedSlotPlugins),
  };
}

/** The config of a runtime whose slots are not open yet, with its plugins. */
export async function loadedNext(
  runtime: Pick<Runtime, 'config' | 'formats' | 'pipeline'>,
): Promise<LoadedConfig> {
  const { baseDir, slots } = runtime.config;
  const loaded = await loadSlots(slots, { baseDir, builtins: builtinFolder });
  const plugins = new Map(slots.map((slot, at) => [slot, loaded.slots[at]]));
  return loadedRuntime(runtime, (slot) => plugins.get(slot));
}

/** The config of a runtime with its plugins; `slotOf`: those of a slot. */
export function loadedRuntime(
  { config, formats, pipeline }: Pick<Runtime, 'config' | 'formats' | 'pipeline'>,
  slotOf: (slot: SlotConfig) => LoadedSlot | undefined,
): LoadedConfig {
  return {
    config,
    stages: stagesOf(config.pipeline, pipeline.loaded),
    pipelines: config.pipelines.map(({ stages }) => stagesOf(stages, pipeline.loaded)),
    formats: formats.map(loadedFormat),
    slots: config.slots.map((slot) => loadedSlotPlugins(slotOf(slot))),
  };
}

function stagesOf(
  configs: readonly StageConfig[],
  loaded: ReadonlyMap<StageConfig, LoadedStage>,
): LoadedConfig['stages'] {
  return configs.map((config) => {
    const stage = loaded.get(config);
    return stage && loadedPlugin(stage);
  });
}

function loadedFormat(format: Format): LoadedPlugin {
  return loadedPlugin({ plugin: format, options: format.settings });
}

/** Plugins of a slot; those of a slot that is not open have no options for display. */
function loadedSlotPlugins(slot: LoadedSlot | undefined): LoadedSlotPlugins {
  return {
    upstream: slot ? loadedPlugin(slot.upstream) : nothing,
    account: slot ? loadedPlugin(slot.account) : nothing,
  };
}

const nothing: LoadedPlugin = { name: '', schema: {}, options: {}, defaults: {} };

/** A plugin with its options and its defaults. */
export function loadedPlugin({ plugin, options }: { plugin: Loadable; options: object }): LoadedPlugin {
  const given = options as LoadedPlugin['options']; // options are an object with any keys
  return { name: plugin.name, schema: plugin.options, options: given, defaults: defaultsOf(plugin) };
}
