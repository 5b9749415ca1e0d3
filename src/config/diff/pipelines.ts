import { isDeepStrictEqual } from 'node:util';
import type { EntryChange, PipelineDiff } from './config-diff.js';
import { diffEntries, type Entry } from './entries.js';
import type { LoadedConfig } from './loaded-config.js';
import { stageEntries, whenSettings } from './stages.js';
import { objectValue, plainValue } from './values.js';

/**
 * Changes of named pipelines: their settings, and the lists that they come to, without what changes in the same way in
 * the default one. The list of a new pipeline is compared with the default one.
 */
export function diffPipelines(
  before: LoadedConfig,
  after: LoadedConfig,
  ofDefault: readonly EntryChange[],
): PipelineDiff[] {
  const changes = diffEntries(
    { before: pipelineEntries(before), after: pipelineEntries(after) },
    { isOrdered: true },
  );
  const changeOf = new Map(changes.map((change) => [change.name, change]));
  const names = [...after.config.pipelines.map(({ name }) => name), ...changes.map(({ name }) => name)];
  return [...new Set(names)].flatMap((name) => {
    const change = changeOf.get(name);
    const stages = change?.change === 'removed' ? [] : stagesOf(name, before, after, ofDefault);
    if (!change && stages.length === 0) return [];
    return [{ ...(change ?? { name, change: 'changed' as const, settings: [] }), stages }];
  });
}

function stagesOf(
  name: string,
  before: LoadedConfig,
  after: LoadedConfig,
  ofDefault: readonly EntryChange[],
): EntryChange[] {
  const own = listOf(after, name);
  if (!own) return [];
  const old = listOf(before, name);
  const changes = diffEntries(stageEntries(old ?? after, own), { isOrdered: true });
  return old ? changes.filter((change) => !ofDefault.some((one) => isDeepStrictEqual(one, change))) : changes;
}

/** A config whose default pipeline is the list of a named one. */
function listOf(loaded: LoadedConfig, name: string): LoadedConfig | undefined {
  const at = loaded.config.pipelines.findIndex((pipeline) => pipeline.name === name);
  const pipeline = loaded.config.pipelines[at];
  const stages = loaded.pipelines[at];
  if (!pipeline || !stages) return undefined;
  return { ...loaded, config: { ...loaded.config, pipeline: pipeline.stages }, stages };
}

function pipelineEntries({ config }: LoadedConfig): readonly Entry[] {
  return config.pipelines.map(({ name, parent, when }) => ({
    name,
    value: objectValue({
      extends: plainValue(parent, parent),
      when: plainValue(whenSettings(when), undefined),
    }),
  }));
}
