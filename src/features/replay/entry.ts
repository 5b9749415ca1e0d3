import { programFile } from '../../kit/package-files.js';
import type { Config, StageConfig } from '../../config/config.js';
import type { LoadedConfig } from '../../config/diff/loaded-config.js';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { MessagesRequest } from '../../plugin/index.js';

/** Name of the stage at which recorded Messages requests enter. */
export const entryName = 'replay-entry';

/**
 * Index in the pipeline at which a request enters that has passed these stages: below the last one of them that the
 * config has, and below all alternatives of that. Undefined if the config has none of them.
 */
export function entryPlace(
  { config, stages }: Pick<LoadedConfig, 'config' | 'stages'>,
  passed: readonly string[],
): number | undefined {
  const names = new Set(passed);
  const isPassed = ({ enabled, name }: StageConfig, at: number): boolean =>
    enabled && [name, stages[at]?.name].some((known) => known !== undefined && names.has(known));
  const last = config.pipeline.findLastIndex(isPassed);
  if (last < 0) return undefined;
  const { group } = config.pipeline[last] ?? {};
  return 1 + (group ? config.pipeline.findLastIndex((stage) => stage.group === group) : last);
}

/** The config with the entry stage at a place of its pipeline. */
export function withEntry(config: Config, place: number): Config {
  const above = config.pipeline[place - 1];
  if (!above) throw new RangeError(`place ${place} is outside a pipeline of ${config.pipeline.length}`);
  const entry: StageConfig = {
    use: programFile('features/replay/stage/replay-entry.js'),
    enabled: true,
    with: {},
    written: {},
    when: undefined,
    path: `${above.path} (${entryName})`,
    at: above.at,
    positionOf: () => above.at,
  };
  return { ...config, pipeline: config.pipeline.toSpliced(place, 0, entry) };
}

const entering = new AsyncLocalStorage<MessagesRequest | undefined>();

/** Runs `send`, whose request becomes the recorded one at the entry stage; undefined: it stays unchanged. */
export function withEntering<Result>(request: MessagesRequest | undefined, send: () => Result): Result {
  return entering.run(request, send);
}

/** Recorded request instead of the one that is being sent. */
export function enteringRequest(): MessagesRequest | undefined {
  return entering.getStore();
}
