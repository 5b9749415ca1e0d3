import type { EntryMark, PipelineConfig, Position, StageConfig, When } from '../../../config/config.js';
import { conditionTexts } from '../order/conditions.js';
import type { StageInfo } from './stage-info.js';

/** A named pipeline as `check` and `/admin/pipeline` show it. */
export interface PipelineInfo {
  readonly name: string;
  /** Pipeline that it changes. */
  readonly extends: string;
  readonly when: When | undefined;
  /** Its conditions in words; empty: it is for keys and teams that name it. */
  readonly conditions: readonly string[];
  readonly path: string;
  readonly at: Position;
  /** The list that its changes come to, with the stages that they remove. */
  readonly stages: readonly MarkedStage[];
}

/** A stage of a named pipeline, against the pipeline that it extends. */
export interface MarkedStage extends StageInfo {
  readonly mark: EntryMark;
}

export function toPipelineInfo(
  { name, parent, when, entries, path, at }: PipelineConfig,
  infoOf: (config: StageConfig) => StageInfo,
): PipelineInfo {
  const stages = entries.flatMap(({ mark, stages: each }) =>
    each.map((config) => ({ ...infoOf(config), mark })),
  );
  return { name, extends: parent, when, conditions: conditionTexts(when), path, at, stages };
}
