import type { Costs } from '../measure/rounds.js';
import type { ThreadKind } from '../measure/thread-kinds.js';
import { median } from './statistics.js';
import { table } from './table.js';

const kinds: readonly ThreadKind[] = ['main', 'SQLite', 'V8', 'other'];

/** Median CPU time of a line's threads of one kind; NaN where it has none. */
export function threadMedian(costs: Costs, line: string, kind: ThreadKind): number {
  return median((costs.get(line) ?? []).flatMap(({ threadMicros }) => threadMicros[kind] ?? []));
}

/** The cost by thread as a table, to stand below another one. */
export function threadTable(costs: Costs): string {
  const cells = [...costs.keys()].map((line) => {
    const micros = kinds.map((kind) => threadMedian(costs, line, kind));
    return [line, ...micros.map((each) => (Number.isNaN(each) ? '–' : each.toFixed(1)))];
  });
  const hasNames = kinds
    .slice(1, -1)
    .some((kind) => [...costs.keys()].some((line) => threadMedian(costs, line, kind) > 0));
  return `\n\n${table(['CPU µs a request by thread', ...kinds], cells)}${hasNames ? '' : `\n\n${unnamed}`}`;
}

const unnamed = 'This Node gives its threads no names: those of SQLite and V8 are among the others.';
