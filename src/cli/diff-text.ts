import type { ConfigDiff, EntryChange, PipelineDiff, SettingChange } from '../config/diff/config-diff.js';
import { painter, printable, type Paint } from '../kit/terminal.js';

/** The difference between two configs for people, a group for each part; a sentence if nothing differs. */
export function diffText(diff: ConfigDiff, { isColoured }: { readonly isColoured: boolean }): string {
  const paint = painter(isColoured);
  const groups = [
    { title: 'stages', lines: diff.stages.flatMap((entry) => entryLines(entry, paint)) },
    { title: 'pipelines', lines: diff.pipelines.flatMap((pipeline) => pipelineLines(pipeline, paint)) },
    { title: 'formats', lines: diff.formats.flatMap((entry) => entryLines(entry, paint)) },
    { title: 'slots', lines: diff.slots.flatMap((entry) => entryLines(entry, paint)) },
    { title: 'models', lines: diff.models.flatMap((entry) => entryLines(entry, paint)) },
    { title: 'settings', lines: diff.settings.map((setting) => `  ${settingLine(setting, paint)}`) },
  ].filter(({ lines }) => lines.length > 0);
  if (groups.length === 0) return 'No differences.\n';
  const blocks = groups.map(({ title, lines }) => [paint('bold', title), ...lines, ''].join('\n'));
  const { restart } = diff;
  const rest = restart.length > 0 ? `Restart the gateway for: ${restart.join(', ')}.\n` : '';
  return rest ? `${blocks.join('\n')}\n${rest}` : blocks.join('\n');
}

/** Colours of the changes. */
const colours = { added: 'green', removed: 'red', changed: 'yellow' } as const;
const signs = { added: '+', removed: '-', changed: '~' } as const;

function entryLines({ name, change, moved, settings }: EntryChange, paint: Paint): readonly string[] {
  const switched = settings.find(({ path }) => path === 'enabled');
  const notes = [
    switched && `switched ${switched.after === true ? 'on' : 'off'}`,
    moved && `moved ${placeAfter(moved.now)}, was ${placeAfter(moved.was)}`,
  ].filter((note) => note !== undefined);
  const head = notes.length > 0 ? `${printable(name)}: ${notes.join('; ')}` : printable(name);
  const own = settings.filter((setting) => setting !== switched);
  return [
    `  ${paint(colours[change], `${signs[change]} ${head}`)}`,
    ...own.map((setting) => `      ${settingLine(setting, paint)}`),
  ];
}

function pipelineLines({ stages, ...entry }: PipelineDiff, paint: Paint): readonly string[] {
  const own = stages.flatMap((stage) => entryLines(stage, paint));
  return [...entryLines(entry, paint), ...own.map((line) => `    ${line}`)];
}

function placeAfter(neighbour: string | null): string {
  return neighbour === null ? 'first' : `after ${printable(neighbour)}`;
}

function settingLine(setting: SettingChange, paint: Paint): string {
  const { path, change, restart } = setting;
  const head = paint(colours[change], `${signs[change]} ${printable(path)}`);
  return `${head}: ${valuesText(setting)}${restart ? ' (needs a restart)' : ''}`;
}

function valuesText({ change, before, after, secret }: SettingChange): string {
  if (secret) return `${change} (value not shown)`;
  if (change === 'added') return valueText(after);
  return change === 'removed' ? `was ${valueText(before)}` : `${valueText(before)} -> ${valueText(after)}`;
}

function valueText(value: unknown): string {
  const isText = typeof value === 'string' && value !== '';
  const isList = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
  const text = printable(isText ? value : isList ? value.join(', ') : JSON.stringify(value));
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** Max characters of a value in a line. */
const maxLength = 200;
