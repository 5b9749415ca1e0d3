import type { Conditions, StageConfig, When } from '../config.js';
import { durationText } from './durations.js';
import type { Entry } from './entries.js';
import type { LoadedConfig, LoadedPlugin } from './loaded-config.js';
import { objectValue, optionsValue, plainValue, type Value } from './values.js';

/** The stages of two configs as entries that can be compared. */
export function stageEntries(before: LoadedConfig, after: LoadedConfig) {
  const names = pluginNames([before, after]);
  const [old, now] = [namedStages(before, names), namedStages(after, names)];
  return { before: toEntries(old, now, noneInForce), after: toEntries(now, old, optionsOf) };
}

interface NamedStage {
  readonly name: string;
  readonly stage: StageConfig;
  readonly plugin: LoadedPlugin | undefined;
}

/** Names of plugins by `use`, as far as one of the configs has loaded them. */
function pluginNames(configs: readonly LoadedConfig[]): ReadonlyMap<string, string> {
  return new Map(
    configs.flatMap(({ config, stages }) =>
      config.pipeline.flatMap((stage, at): readonly [string, string][] => {
        const plugin = stages[at];
        return plugin && stage.name === undefined ? [[stage.use, bareName(plugin, stage)]] : [];
      }),
    ),
  );
}

/** Stages by their names: `rate-limit`, and `rate-limit#2` for a second one. */
function namedStages(
  { config, stages }: LoadedConfig,
  names: ReadonlyMap<string, string>,
): readonly NamedStage[] {
  const counts = new Map<string, number>();
  return config.pipeline.map((stage, at) => {
    const plugin = stages[at];
    const name = stage.name ?? (plugin && bareName(plugin, stage)) ?? names.get(stage.use) ?? stage.use;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { name: count === 1 ? name : `${name}#${count}`, stage, plugin };
  });
}

/** Name of a plugin as changes have it: that of an own stage of a pipeline without the name of the pipeline. */
function bareName({ name }: LoadedPlugin, { pipeline }: Pick<StageConfig, 'pipeline'>): string {
  const prefix = pipeline === undefined ? '' : `${pipeline}/`;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

/** `whereOff`: options of a stage that is switched off here, from the stage of the other config that is on. */
function toEntries(
  own: readonly NamedStage[],
  other: readonly NamedStage[],
  whereOff: (on: NamedStage) => Value,
): readonly Entry[] {
  const others = new Map(other.map((named) => [named.name, named]));
  const alternatives = alternativesOf(own, others);
  return own.map((named) => {
    const on = others.get(named.name);
    const options = named.plugin || !on?.plugin ? optionsOf(named) : whereOff(on);
    const value = stageValue(named, options, alternatives.get(named.name));
    return { name: named.name, value, defaults: () => defaultsOf(named) };
  });
}

function optionsOf({ stage, plugin }: NamedStage): Value {
  if (!plugin) return optionsValue(stage.with, stage.written, {});
  return optionsValue(plugin.options, stage.written, plugin.schema);
}

/** Options in place of those of a disabled stage: its defaults. */
function noneInForce({ stage, plugin }: NamedStage): Value {
  if (!plugin) return optionsValue(stage.with, stage.written, {});
  return optionsValue(plugin.defaults, {}, plugin.schema);
}

/** The alternatives of a stage's entry that both configs have, by stage; shortened if there are many. */
function alternativesOf(
  stages: readonly NamedStage[],
  others: ReadonlyMap<string, NamedStage>,
): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { name, stage } of stages)
    if (stage.group && others.has(name)) {
      const group = groups.get(stage.group.path) ?? [];
      groups.set(stage.group.path, group);
      group.push(name);
    }
  return new Map([...groups.values()].flatMap(sameForEach));
}

function sameForEach(group: readonly string[]): readonly (readonly [string, readonly string[]])[] {
  if (group.length < 2) return [];
  const names = group.toSorted().slice(0, maxAlternatives);
  return group.map((name) => [name, names]);
}

const maxAlternatives = 20;

function stageValue(
  { stage }: NamedStage,
  options: Value,
  alternatives: readonly string[] | undefined,
): Value {
  const { use, integrity, enabled, when, timeoutMs, skipsErrors = false } = stage;
  return objectValue({
    use: plainValue(use, use),
    integrity: plainValue(integrity, integrity),
    enabled: plainValue(enabled, enabled),
    oneOf: plainValue(alternatives, undefined),
    with: options,
    when: plainValue(whenSettings(when), undefined),
    timeout: plainValue(durationText(timeoutMs), undefined),
    onError: plainValue(skipsErrors ? 'skip' : 'fail', undefined),
    isolate: plainValue(isolationSettings(stage), undefined),
  });
}

/** Settings of a stage's process in base units; undefined if it has none. */
function isolationSettings({ isolation }: StageConfig): object | undefined {
  if (!isolation) return undefined;
  const { memoryBytes: memory, stallMs, ...lists } = isolation;
  return { memory, stall: durationText(stallMs), ...lists };
}

/** Conditions as in the file; undefined if there are none. */
export function whenSettings({ not, ...when }: When = {}): object | undefined {
  const settings = { ...asPercentage(when), ...(not && { not: asPercentage(not) }) };
  return Object.keys(settings).length > 0 ? settings : undefined;
}

function asPercentage(conditions: Conditions): object {
  const { sample } = conditions;
  return sample === undefined ? conditions : { ...conditions, sample: `${sample}%` };
}

/** Value of a new stage without settings of its own; the options of a disabled one have no effect. */
function defaultsOf(named: NamedStage): Value {
  const { use, name } = named.stage;
  return objectValue({
    ...(name === undefined && { use: plainValue(use, use) }),
    enabled: plainValue(true, true),
    onError: plainValue('fail', 'fail'),
    with: noneInForce(named),
  });
}
