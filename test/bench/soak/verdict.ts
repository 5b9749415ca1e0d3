import { slope } from '../report/statistics.js';
import { table } from '../report/table.js';
import { returning, type Figure, type Sample } from './samples.js';

/** Comparison of the state after the traffic with that before it. */
export interface Verdict {
  readonly text: string;
  readonly faults: readonly string[];
}

/** Growth below this is the collector's breathing, and not a leak. */
const tolerance = { rssMb: 24, heapMb: 8 } as const;

/** Compares the quiet before and after, and fits a line through the memory of the time between. */
export function judge(before: Sample, during: readonly Sample[], after: Sample): Verdict {
  const counts = returning.map((field) => ({
    field,
    cells: [field, String(before[field]), String(most(during, field)), String(after[field])],
    fault: after[field] > before[field] ? unreturned(field, before, after) : '',
  }));
  const trends = (['rssMb', 'heapMb'] as const).map((field) => trend(field, before, during, after));
  const header = ['what', 'before', 'at most', 'after', 'MB an hour'];
  const delay = [
    'loopDelayMs p99',
    ...[before.loopDelayMs, most(during, 'loopDelayMs'), after.loopDelayMs].map((ms) => ms.toFixed(1)),
  ];
  const rows = [...counts, ...trends].map(({ cells }) => cells);
  return {
    text: table(header, [...rows, delay]),
    faults: [...counts, ...trends].map(({ fault }) => fault).filter(Boolean),
  };
}

function unreturned(field: Figure, before: Sample, after: Sample): string {
  const fault = `${field} did not return: ${before[field]}, then ${after[field]}`;
  if (field !== 'files') return fault;
  const more = [...after.fileKinds]
    .map(([kind, count]) => ({ kind, count: count - (before.fileKinds.get(kind) ?? 0) }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${kind}`);
  return `${fault} (more: ${more.join(', ')})`;
}

/** Trend after the first third, whose growth is warm-up. */
function trend(field: 'rssMb' | 'heapMb', before: Sample, during: readonly Sample[], after: Sample) {
  const third = Math.ceil(during.length / 3);
  const warm = during.slice(third);
  const [first] = warm;
  const points = warm.map((each) => [(each.atMs - (first?.atMs ?? 0)) / 3_600_000, each[field]] as const);
  const cells = [before[field], most(during, field), after[field]].map((mb) => mb.toFixed(0));
  // The collector lets both of them swing: what it always leaves is what counts.
  const grown = least(warm.slice(third), field) - least(warm.slice(0, third), field);
  return {
    cells: [field, ...cells, slope(points).toFixed(1)],
    fault: grown > tolerance[field] ? `${field} grew by ${grown.toFixed(0)} MB after warming up` : '',
  };
}

function least(samples: readonly Sample[], field: Figure): number {
  return Math.min(...samples.map((each) => each[field]));
}

function most(samples: readonly Sample[], field: Figure): number {
  return Math.max(...samples.map((each) => each[field]));
}
