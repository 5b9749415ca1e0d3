import type { Cell } from './run.js';
import type { Verdict } from './verdict.js';

const verdicts = ['sent', 'reported', 'refused', 'LOST'] as const satisfies readonly Verdict[];

/** Verdicts as a Markdown table: a row for each feature, a column for each receiver. */
export function tableOf(cells: readonly Cell[]): string {
  const receivers = [...new Set(cells.map(({ receiver }) => receiver))];
  const features = [...new Set(cells.map(({ feature }) => feature))];
  const rows = features.map((feature) => {
    const own = cells.filter((cell) => cell.feature === feature);
    return `| ${[`${feature.format}: ${feature.name}`, ...own.map(({ verdict }) => verdict)].join(' | ')} |`;
  });
  const heads = ['feature', ...receivers];
  return [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...rows].join('\n');
}

/** Number of cells by verdict, in words. */
export function countsOf(cells: readonly Cell[]): string {
  const counts = verdicts.map((each) => `${cells.filter(({ verdict }) => verdict === each).length} ${each}`);
  return `${cells.length} pairs: ${counts.join(', ')}`;
}
