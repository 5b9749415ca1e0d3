import {
  formatPlace,
  type ConfigProblem,
  type PipelineConfig,
  type StageConfig,
} from '../../../config/config.js';
import type { Plugin } from '../../../plugin/index.js';

/**
 * Number of stages at the top of the default pipeline that all pipelines have in common: those down to the last entry
 * that provides `caller`, by which a pipeline is chosen. `pluginOf`: undefined for a stage that is not loaded.
 */
export function headLength(
  configs: readonly StageConfig[],
  pluginOf: (config: StageConfig) => Pick<Plugin, 'provides'> | undefined,
): number {
  const last = configs.findLastIndex((config) => pluginOf(config)?.provides.includes('caller') === true);
  const group = configs[last]?.group;
  return 1 + (group ? configs.findLastIndex((config) => config.group === group) : last);
}

/** Problems of changes within the common part, the first `head` stages of the default pipeline. */
export function headProblems(
  configs: readonly StageConfig[],
  head: number,
  pipelines: readonly PipelineConfig[],
): readonly ConfigProblem[] {
  const last = configs[head - 1];
  if (!last) return [];
  return pipelines.flatMap(({ name, changes }) =>
    changes
      .filter(({ place }) => place < head)
      .map(({ at, path }) => ({ at, path, pipeline: name, message: messageOf(last, at) })),
  );
}

function messageOf(last: StageConfig, from: ConfigProblem['at']): string {
  const { name, use } = last;
  return `changes entries that all pipelines share: those down to "${name ?? use}" at ${formatPlace(last.at, from)}, the last one that provides "caller", by which pipelines are chosen; change them under \`pipeline:\`, or place yours below them`;
}
