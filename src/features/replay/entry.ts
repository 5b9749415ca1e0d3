import { programFile } from '../../kit/package-files.js';
import type { Config, StageConfig } from '../../config/config.js';
import type { LoadedConfig } from '../../config/diff/loaded-config.js';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { MessagesRequest } from '../../plugin/index.js';

/** Name of the stage at which recorded Messages requests enter. */
export const entryName = 'replay-entry';

/** Places at which a request enters the lists of a config. */
export interface EntryPlaces {
  /** Index in the default pipeline. */
  readonly ofDefault: number;
  /** Index in the list of each named pipeline, in their order. */
  readonly named: readonly number[];
}

/**
 * Places for a request that has passed these stages, in each pipeline, since the request itself chooses one: below the
 * last of them that the list has, and below all alternatives of that. Throws an Error for a list that has none of them.
 */
export function entryPlaces(loaded: LoadedConfig, passed: readonly string[]): EntryPlaces {
  const { config, stages, pipelines } = loaded;
  return {
    ofDefault: placeIn(config.pipeline, stages, passed),
    named: config.pipelines.map((pipeline, at) =>
      placeIn(pipeline.stages, pipelines[at] ?? [], passed, pipeline.name),
    ),
  };
}

function placeIn(
  list: readonly StageConfig[],
  plugins: LoadedConfig['stages'],
  passed: readonly string[],
  pipeline?: string,
): number {
  const names = new Set(passed.map(bareName));
  const isPassed = ({ enabled, name }: StageConfig, at: number): boolean =>
    enabled && [name, plugins[at]?.name].some((known) => known !== undefined && names.has(bareName(known)));
  const last = list.findLastIndex(isPassed);
  if (last < 0) {
    const owner = pipeline === undefined ? 'its pipeline' : `its pipeline "${pipeline}"`;
    throw new Error(`${owner} has none of the stages that the request had passed: ${passed.join(', ')}`);
  }
  const { group } = list[last] ?? {};
  return 1 + (group ? list.findLastIndex((stage) => stage.group === group) : last);
}

/** Name of a stage without that of a pipeline of its own: `dlp` of `red/dlp`. */
function bareName(name: string): string {
  return name.replace(/^[\w.:-]{1,64}\//, '');
}

/** The config with the entry stage at a place of each of its pipelines. */
export function withEntry(config: Config, { ofDefault, named }: EntryPlaces): Config {
  const entry = entryBelow(config.pipeline[ofDefault - 1]);
  return {
    ...config,
    pipeline: config.pipeline.toSpliced(ofDefault, 0, entry),
    pipelines: config.pipelines.map((pipeline, at) => {
      const place = named[at] ?? ofDefault;
      return {
        ...pipeline,
        stages: pipeline.stages.toSpliced(place, 0, entry),
        changes: pipeline.changes.map((change) =>
          change.place < place ? change : { ...change, place: change.place + 1 },
        ),
      };
    }),
  };
}

function entryBelow(above: StageConfig | undefined): StageConfig {
  if (!above) throw new RangeError('the entry stage has no stage above it');
  return {
    use: programFile('features/replay/stage/replay-entry.js'),
    enabled: true,
    with: {},
    written: {},
    when: undefined,
    path: `${above.path} (${entryName})`,
    at: above.at,
    positionOf: () => above.at,
  };
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
