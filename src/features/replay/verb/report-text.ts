import { counted } from '../../../kit/plural.js';
import type { Difference, DifferenceKind } from '../differences.js';
import type { DifferenceGroup } from '../groups.js';
import type { ReplayReport, SkippedFile } from '../report.js';

const titles: Readonly<Record<DifferenceKind, string>> = {
  refusal: 'answers and refusals',
  slot: 'slot',
  model: 'model upstream',
  attempts: 'calls of upstreams',
  request: 'fields of the request as it goes out',
  dropped: 'dropped fields',
  tokens: 'tokens added to a request',
  stages: 'stages passed',
};

/** Report of a replay for people. */
export function replayText(report: ReplayReport): string {
  const { old, new: now, requests, different, groups, ungrouped, durationMs } = report;
  const kinds = [...new Set(groups.map(({ kind }) => kind))];
  const parts = kinds.map((kind) =>
    section(
      kind,
      groups.filter((group) => group.kind === kind),
    ),
  );
  const rest = ungrouped > 0 ? [`${counted(ungrouped, 'more difference')}, of too many kinds to list\n`] : [];
  const alike = requests - different;
  return [
    `old  ${old}\nnew  ${now}\n${counted(requests, 'request')}${periodText(report)}, ${(durationMs / 1000).toFixed(1)} s\n`,
    ...notes(report),
    ...parts,
    ...rest,
    different === 0 ? 'No difference.\n' : `${different} of ${requests} differ, ${alike} are alike.\n`,
  ].join('\n');
}

function section(kind: DifferenceKind, groups: readonly DifferenceGroup[]): string {
  const width = String(Math.max(...groups.map((group) => group.count))).length;
  const lines = groups.flatMap((group) => [
    `  ${String(group.count).padStart(width)} × ${changeText(group)}  (${group.example})`,
    ...(group.fields ?? []).flatMap(({ name, old, new: now }) => [
      ...(old === undefined ? [] : [`      - ${name}: ${old}`]),
      ...(now === undefined ? [] : [`      + ${name}: ${now}`]),
    ]),
  ]);
  return `${titles[kind]}\n${lines.join('\n')}\n`;
}

function changeText({ kind, old, new: now }: Difference): string {
  if (kind === 'request') return now;
  if (kind !== 'stages' && kind !== 'dropped') return `${old} → ${now}`;
  if (kind === 'stages' && old.includes(' ') && !old.includes(', ')) return `${old} → ${now}`;
  return [old === '' ? '' : `- ${old}`, now === '' ? '' : `+ ${now}`].filter(Boolean).join('  ');
}

function notes({ skipped, leftOut, requests }: ReplayReport): readonly string[] {
  const reasons = [...new Set(skipped.map(({ reason }) => reason))];
  const lines = [
    ...reasons.map((reason) =>
      skippedText(
        reason,
        skipped.filter((file) => file.reason === reason),
      ),
    ),
    ...(leftOut > 0
      ? [`${counted(leftOut, 'older recording')} left out by --limit ${requests + skipped.length}`]
      : []),
  ];
  return lines.length === 0 ? [] : [`${lines.join('\n')}\n`];
}

function skippedText(reason: string, files: readonly SkippedFile[]): string {
  return `${counted(files.length, 'recording')} skipped (${files[0]?.file}): ${reason}`;
}

function periodText({ fromMs, toMs }: ReplayReport): string {
  if (fromMs === undefined || toMs === undefined) return '';
  return ` from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`;
}
