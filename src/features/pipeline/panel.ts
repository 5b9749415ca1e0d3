import { redactAddresses } from '../../kit/schema/redact.js';
import { Type } from '../../plugin/index.js';
import type { Gateway } from '../../gateway/gateway.js';
import type { RoutesOf } from '../../operator/route-source.js';
import { route, type Route } from '../../operator/route.js';
import { Count, ListOf, Nullable } from '../../operator/schemas.js';
import { consolePipeline, type ConsoleField, type ConsoleStage, type ConsoleStageTimes } from './stages.js';
import { problemsOf } from '../../config/config.js';
import { ConfigDiff, noChanges } from '../../config/diff/config-diff.js';
import { reload } from './reload.js';
import { ReloadReport } from './reload-report.js';

/** Routes of the pipeline and of reloads. */
export const panelRoutes: RoutesOf = (gateway) => [pipelineRoute(gateway), ...reloadRoutes(gateway)];

function pipelineRoute(gateway: Gateway): Route {
  return route({
    method: 'GET',
    path: '/api/panel/pipeline',
    summary: 'The pipelines as they run: stages with their options and their times, secrets masked.',
    answers: { 200: ListOf(StageReport, { file: Type.String(), pipelines: Type.Array(PipelineReport) }) },
    async handle() {
      const { file, stages, pipelines } = await consolePipeline(gateway);
      return {
        object: 'list',
        file,
        data: stages.map(stageReport),
        pipelines: pipelines.map((pipeline) => ({
          ...pipeline,
          stages: pipeline.stages.map((stage) => ({ ...stageReport(stage), mark: stage.mark })),
        })),
      };
    },
  });
}

const Names = Type.Array(Type.String());

const FieldReport = Type.Object({
  path: Type.String({ description: '`limits.requestsPerMinute`' }),
  type: Type.String(),
  title: Nullable(Type.String()),
  description: Nullable(Type.String()),
  default: Type.Unknown({ description: 'null: it has none.' }),
  value: Type.Unknown({ description: 'null: not set, or not shown.' }),
  required: Type.Boolean(),
  secret: Type.Boolean({ description: 'Its value is not shown.' }),
  changed: Type.Boolean({ description: 'Whether the value differs from the default.' }),
});

function fieldReport({ initial, isRequired, isSecret, isChanged, ...field }: ConsoleField): object {
  const { path, type, title, description, value } = field;
  const flags = { required: isRequired, secret: isSecret, changed: isChanged };
  return { path, type, title, description, default: initial, value: isSecret ? null : value, ...flags };
}

const TimesReport = Type.Object(
  {
    count: Type.Integer({ minimum: 0, description: 'Requests that have passed it.' }),
    p50_ms: Nullable(Type.Number()),
    p95_ms: Nullable(Type.Number()),
    faults: Count,
    skips: Count,
  },
  {
    description:
      "The stage's own time since the start, in all workers of this instance, as far as the buckets of " +
      'gw2api_stage_seconds tell. Stages of one name share theirs.',
  },
);

const noTimes: ConsoleStageTimes = { count: 0, p50Ms: null, p95Ms: null, faults: 0, skips: 0 };

function timesReport({ count, p50Ms, p95Ms, faults, skips }: ConsoleStageTimes = noTimes): object {
  return { count, p50_ms: p50Ms, p95_ms: p95Ms, faults, skips };
}

/** A stage as sent by the console API. */
export const StageReport = Type.Object({
  name: Type.String(),
  use: Type.String(),
  enabled: Type.Boolean(),
  group: Nullable(Type.String({ description: 'The entry whose alternative it is: `pipeline[3]`.' })),
  when: Nullable(Type.Record(Type.String(), Type.Unknown())),
  conditions: Type.Array(Type.String(), { description: '`when` in words.' }),
  path: Type.String({ description: '`pipeline[3]`, or `pipeline[3].oneOf[0]`' }),
  place: Type.String({ description: 'Where it stands in the config file.' }),
  options: Type.Record(Type.String(), Type.Unknown()),
  requires: Names,
  provides: Names,
  seals: Names,
  operations: Names,
  fields: Type.Array(FieldReport, { description: '`options` in the words of their schema.' }),
  times: TimesReport,
});

/** A stage of a named pipeline, against the pipeline that it extends. */
const MarkedReport = Type.Object({
  ...StageReport.properties,
  mark: Type.Enum(['same', 'added', 'changed', 'removed']),
});

/** A named pipeline as sent by the console API. */
export const PipelineReport = Type.Object({
  name: Type.String(),
  extends: Type.String(),
  conditions: Type.Array(Type.String(), {
    description: '`when` in words; none: it is for keys and teams that name it.',
  }),
  stages: Type.Array(MarkedReport, { description: 'Its stages, and those that it has removed.' }),
});

function stageReport({ at, when, options, fields, times, ...stage }: ConsoleStage): object {
  return {
    name: stage.name,
    use: stage.use,
    enabled: stage.enabled,
    group: stage.group,
    when: when ?? null,
    conditions: stage.conditions,
    path: stage.path,
    place: `${at.file}:${at.line}:${at.column}`,
    options: redactAddresses(options),
    requires: stage.requires,
    provides: stage.provides,
    seals: stage.seals,
    operations: stage.operations,
    fields: fields.map(fieldReport),
    times: timesReport(times),
  };
}

/** Routes about a reload of the config. */
function reloadRoutes(gateway: Gateway): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/panel/reload',
      summary:
        'What a reload would change now, or why it would be refused. The stages of the new config are set up for ' +
        'that, not started, and disposed.',
      answers: { 200: PreviewReport },
      async handle() {
        const preview = await gateway.reloads.preview().then(
          ({ changes, refusals }) => ({ problems: refusals, changes }),
          (error: unknown) => ({ problems: problemsOf(error), changes: noChanges }),
        );
        return { object: 'reload_preview', file: gateway.runtime.config.file, ...preview };
      },
    }),
    route({
      method: 'POST',
      path: '/api/panel/reload',
      summary: 'Reads the config again; the answer lists the changes.',
      audit: 'config.reload',
      answers: { 200: ReloadReport },
      handle: ({ audit }) => reload(gateway, audit),
    }),
  ];
}

/** Preview of a reload as sent by the console API. */
export const PreviewReport = Type.Object({
  object: Type.Literal('reload_preview'),
  file: Type.String(),
  problems: Type.Array(Type.String(), {
    description: 'Reasons why a reload would be refused, one sentence each.',
  }),
  changes: ConfigDiff,
});
