import type { EntryMark, StageConfig } from '../../config/config.js';
import { allStages } from '../../config/rules.js';
import type { LoadedStage } from '../../engine/pipeline/load/load-stages.js';
import type { PipelineInfo } from '../../engine/pipeline/run/pipeline-info.js';
import type { StageInfo } from '../../engine/pipeline/run/stage-info.js';
import { optionFields } from '../../engine/pipeline/load/option-fields.js';
import { isRecord } from '../../kit/schema/record.js';
import type { Gateway } from '../../gateway/gateway.js';
import { loadedPlugin } from '../../gateway/reload/loaded-config.js';
import type { LoadedPlugin } from '../../config/diff/loaded-config.js';
import { compareValues, optionsValue } from '../../config/diff/values.js';

export interface ConsolePipeline {
  readonly file: string;
  /** Stages of the default pipeline. */
  readonly stages: readonly ConsoleStage[];
  readonly pipelines: readonly ConsoleNamedPipeline[];
}

/** A named pipeline, with the stages that it has removed. */
export interface ConsoleNamedPipeline extends Pick<PipelineInfo, 'name' | 'extends' | 'conditions'> {
  readonly stages: readonly (ConsoleStage & { readonly mark: EntryMark })[];
}

/** An option of a stage, as its schema describes it; secrets are redacted. */
export interface ConsoleField {
  /** `limits.requestsPerMinute` */
  readonly path: string;
  readonly type: string;
  readonly title: string | null;
  readonly description: string | null;
  /** Default of the schema; null: it has none. */
  readonly initial: unknown;
  /** Variables are shown as in the file; null: not set, or not shown. */
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** True for a value that is not the default. */
  readonly isChanged: boolean;
}

/** Times of a stage since the start, in all workers. */
export interface ConsoleStageTimes {
  readonly count: number;
  /** Null without requests. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  readonly faults: number;
  readonly skips: number;
}

/** A stage with its options, whose secrets are redacted. */
export interface ConsoleStage {
  readonly fields: readonly ConsoleField[];
  /** Undefined before the first request. */
  readonly times: ConsoleStageTimes | undefined;
  readonly name: string;
  readonly use: string;
  readonly enabled: boolean;
  readonly group: string | null;
  readonly when: object | undefined;
  readonly conditions: readonly string[];
  readonly path: string;
  readonly at: { readonly file: string; readonly line: number; readonly column: number };
  readonly options: object;
  readonly requires: readonly string[];
  readonly provides: readonly string[];
  readonly seals: readonly string[];
  readonly operations: readonly string[];
}

/** The pipelines in force for the console: stages with their options and their times. */
export async function consolePipeline(gateway: Gateway): Promise<ConsolePipeline> {
  const { config, pipeline } = gateway.runtime;
  const { loaded } = pipeline;
  const times = await gateway.metrics.stageTimes();
  const fields = new Map(allStages(config).map((stage) => [stage.path, fieldsOf(stage, loaded.get(stage))]));
  const shown = <Info extends StageInfo>(stage: Info) => ({
    ...stage,
    fields: fields.get(stage.path) ?? [],
    times: times.get(stage.name),
  });
  return {
    file: config.file,
    stages: pipeline.stages.map(shown),
    pipelines: pipeline.pipelines.map(({ name, extends: parent, conditions, stages }) => {
      return { name, extends: parent, conditions, stages: stages.map(shown) };
    }),
  };
}

/** Options of a stage as rows of a table; of a disabled one only their names. */
function fieldsOf({ written }: StageConfig, stage: LoadedStage | undefined): readonly ConsoleField[] {
  if (!stage) return Object.keys(written).map(unknownField);
  const plugin = loadedPlugin(stage);
  const { shown, changed } = showOptions(plugin, written);
  const fields = optionFields(plugin.schema).filter(({ hasFields }) => !hasFields);
  const described = new Set(fields.map(({ keys }) => keys[0]));
  const others = Object.keys(plugin.options).filter((key) => !described.has(key));
  return [
    ...fields.map(
      ({ keys, type, values, title, description, initial, isRequired, isSecret }): ConsoleField => {
        const path = keys.join('.');
        return {
          path,
          type: values.length > 0 ? values.map((value) => JSON.stringify(value)).join(' | ') : type,
          title: title ?? null,
          description: description ?? null,
          initial: initial ?? null,
          value: valueAt(shown, keys) ?? null,
          isRequired,
          isSecret,
          isChanged: changed.some((each) => each === path || each.startsWith(`${path}.`)),
        };
      },
    ),
    ...others.map(unknownField),
  ];
}

/** An option that no schema describes, which may be a secret. */
function unknownField(path: string): ConsoleField {
  const unknown = { title: null, description: null, initial: null, value: null };
  return { path, type: 'any', ...unknown, isRequired: false, isSecret: true, isChanged: true };
}

function valueAt(root: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );
}

/** Options of a plugin for display. */
export interface ShownOptions {
  /** Defaults filled in, without secrets and with variables as in the file. */
  readonly shown: unknown;
  /** Paths of the values that are not the defaults. */
  readonly changed: readonly string[];
}

/** Compares the options of a plugin with their defaults. `written`: as in the file, before variables are substituted. */
function showOptions({ options, defaults, schema }: LoadedPlugin, written: unknown): ShownOptions {
  const value = optionsValue(options, written, schema);
  const changes = compareValues(optionsValue(defaults, {}, schema), value);
  return { shown: value.shown, changed: changes.map(({ path }) => path) };
}
