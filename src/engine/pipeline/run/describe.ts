import type { Config, IsolationConfig, SlotConfig } from '../../../config/config.js';
import { counted } from '../../../kit/plural.js';
import { stepsOf } from '../../../config/pipelines/steps.js';
import type { MarkedStage, PipelineInfo } from './pipeline-info.js';
import type { StageInfo } from './stage-info.js';

/** Text of a config and its pipeline, as `check` prints it: the requests' way, top to bottom. */
export function describePipeline(
  { file, listen, slots, models }: Config,
  {
    stages,
    pipelines,
  }: { readonly stages: readonly StageInfo[]; readonly pipelines: readonly PipelineInfo[] },
): string {
  const rows = stepsOf(stages).flatMap(stepRows);
  const head = `${file}: ${counted(stages.length, 'stage')}, ${counted(slots.length, 'slot')}, ${counted(models.length, 'model')}`;
  return [
    `${head}, ${listen.host}:${listen.port}`,
    '',
    'pipeline',
    ...align(rows),
    '',
    ...isolationText(stages, pipelines),
    ...pipelines.flatMap((pipeline) => [...changesText(pipeline), '']),
    'slots',
    ...align(
      slots.map((slot) => [
        slot.id,
        slot.upstream,
        slot.account?.kind ?? 'none',
        modelsOf(slot),
        slot.baseUrl ?? '',
      ]),
    ),
    '',
  ].join('\n');
}

/** Limits of the stages in child processes; empty if there are none. */
function isolationText(stages: readonly StageInfo[], pipelines: readonly PipelineInfo[]): readonly string[] {
  const own = pipelines.flatMap(({ stages: list }) =>
    list.filter(({ mark }) => mark !== 'same' && mark !== 'removed'),
  );
  const rows = [...stages, ...own].flatMap((stage) =>
    stage.enabled && stage.isolate ? [isolationRow(stage.name, stage.isolate)] : [],
  );
  if (rows.length === 0) return [];
  return ['child processes', ...align(rows), ...isolationNotes.map((note) => `  ${note}`), ''];
}

function isolationRow(
  name: string,
  { memoryBytes, stallMs, env, read, wrap }: IsolationConfig,
): readonly string[] {
  return [
    name,
    `killed beyond ${Math.round(memoryBytes / 2 ** 20)} MB, or ${stallMs / 1000} s without an answer`,
    `reads ${['its package', ...read].join(', ')}`,
    env.length > 0 ? `environment: ${env.join(' ')}` : 'no environment',
    wrap.length > 0 ? `within ${wrap[0]}` : '',
  ];
}

/** Bounds of every child process on the Node that runs. */
const isolationNotes = [
  'Files, processes, threads and addons are refused by the permissions of Node; network modules by their names.',
  `${networkNote()} Neither stops malicious code: for that, wrap it in a sandbox, or use a remote stage.`,
];

function networkNote(): string {
  const node = `Node ${process.versions.node}`;
  return process.allowedNodeEnvironmentFlags.has('--allow-net')
    ? `${node} refuses the network by a permission, too.`
    : `${node} has no permission for the network.`;
}

/** Text of a named pipeline, with all its stages. */
export function describeNamed(pipeline: PipelineInfo): string {
  const rows = pipeline.stages.flatMap((stage) => markedRow(stage));
  return [titleOf(pipeline), ...align(rows), ''].join('\n');
}

/** A named pipeline as the stages that differ from the pipeline that it extends. */
function changesText(pipeline: PipelineInfo): readonly string[] {
  const changed = pipeline.stages.filter(({ mark }) => mark !== 'same');
  return [titleOf(pipeline), ...align(changed.flatMap(markedRow))];
}

function titleOf({ name, extends: parent, conditions }: PipelineInfo): string {
  const takes = conditions.length > 0 ? ` when ${conditions.join(', ')}` : '';
  return `pipeline ${name}, which extends ${parent}${takes}`;
}

const signs = { same: ' ', added: '+', changed: '~', removed: '-' } as const;

function markedRow(stage: MarkedStage): readonly (readonly string[])[] {
  const [title = '', ...cells] = stageRow(stage);
  return [[`${signs[stage.mark]} ${title}`, ...cells]];
}

function modelsOf({ models, upstreamModels, discovers, filter = [] }: SlotConfig): string {
  if (discovers) return ['discover', ...filter].join(' ');
  return models.map((model) => withName(model, upstreamModels?.[model])).join(' ');
}

function withName(model: string, name: string | undefined): string {
  return name === undefined ? model : `${model}=${name}`;
}

/** Rows of a step; alternatives stand below a title, the first whose conditions hold before the others. */
function stepRows(stages: readonly StageInfo[]): readonly (readonly string[])[] {
  const rows = stages.map(stageRow);
  if (!stages[0]?.group) return rows;
  return [['one of'], ...rows.map(([title = '', ...cells]) => [`  ${title}`, ...cells])];
}

function stageRow(stage: StageInfo): readonly string[] {
  const { name, use, enabled, requires, provides, seals, operations, conditions } = stage;
  const { timeoutMs, onError, isolate, keepsPrefix } = stage;
  const title = name === use ? name : `${name} (${use})`;
  if (!enabled) return [title, 'off'];
  const changes =
    provides.length > 0 ? `${requires.join(' ')} -> ${provides.join(' ')}`.trim() : requires.join(' ');
  const isDefault = operations.join() === 'generate';
  const notes = [
    seals.length > 0 ? `seals ${seals.join(' ')}` : '',
    isDefault ? '' : `for ${operations.join(' ')}`,
    timeoutMs === null ? '' : `timeout ${timeoutMs / 1000} s`,
    onError === 'skip' ? 'skipped on error' : '',
    isolate === null ? '' : 'in a child process',
    keepsPrefix ? '' : 'may lose prompt caches',
    conditions.length > 0 ? `when ${conditions.join(', ')}` : '',
  ];
  return [title, changes, notes.filter(Boolean).join('; ')];
}

/** Columns as wide as their widest cell, two spaces apart, indented by two. */
export function align(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows.map((row) => `  ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}`.trimEnd());
}
