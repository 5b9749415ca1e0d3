import type { Config, PipelineConfig, PipelineEntry, Position, StageConfig } from '../../config/config.js';
import type { DrySettings } from '../dry-run/settings.js';
import type { Explanation, ExplainRequest } from './explanation.js';

/** Entry of a config without its functions. */
export type Plain<Entry> = Omit<Entry, 'positionOf' | 'isValid'>;

/** Config without functions, as it can be sent to a thread. */
export type PlainConfig = Omit<Config, 'pipeline' | 'pipelines' | 'formats' | 'slots'> & {
  readonly pipeline: readonly Plain<StageConfig>[];
  readonly pipelines: readonly PlainPipeline[];
  readonly formats: readonly Plain<Config['formats'][number]>[];
  readonly slots: readonly Plain<Config['slots'][number]>[];
};

/** Stages that pipelines share are the same objects here too. */
type PlainPipeline = Omit<Plain<PipelineConfig>, 'entries' | 'stages'> & {
  readonly entries: readonly (Omit<PipelineEntry, 'stages'> & {
    readonly stages: readonly Plain<StageConfig>[];
  })[];
  readonly stages: readonly Plain<StageConfig>[];
};

/** Task of a thread: the request to explain. */
export interface ThreadTask {
  readonly config: PlainConfig;
  readonly request: ExplainRequest;
  readonly settings: DrySettings;
}

/** Answer of a thread. */
export type ThreadAnswer =
  | { readonly explanation: Explanation; readonly problem?: never }
  | { readonly explanation?: never; readonly problem: string };

/** The config with functions that know the positions of whole entries. */
export function revived(config: PlainConfig): Config {
  const known = new Map<Plain<StageConfig>, StageConfig>();
  const once = (stage: Plain<StageConfig>): StageConfig => {
    const made = known.get(stage) ?? located(stage);
    known.set(stage, made);
    return made;
  };
  return {
    ...config,
    pipeline: config.pipeline.map(once),
    pipelines: config.pipelines.map((pipeline) => ({
      ...located(pipeline),
      entries: pipeline.entries.map((entry) => ({ ...entry, stages: entry.stages.map(once) })),
      stages: pipeline.stages.map(once),
    })),
    formats: config.formats.map(located),
    slots: config.slots.map((slot) => ({ ...located(slot), isValid: () => true })),
  };
}

function located<Entry extends { readonly at: Position }>(entry: Entry) {
  return { ...entry, positionOf: () => entry.at };
}
