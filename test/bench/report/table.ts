/** A markdown table whose columns line up; the first is text, the others are numbers. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, at) => pad(cells[at] ?? '', width, at)).join(' | ')} |`;
  const rules = widths.map((width, at) => `${'-'.repeat(width + 1)}${at === 0 ? '-' : ':'}`);
  return [line(header), `|${rules.join('|')}|`, ...rows.map(line)].join('\n');
}

function pad(text: string, width: number, column: number): string {
  return column === 0 ? text.padEnd(width) : text.padStart(width);
}

/** A ratio beside its goal: `0.97 (≤ 1.00 ✓)`. */
export function against(ratio: number, atMost?: number): string {
  return Number.isNaN(ratio) ? '' : `${ratio.toFixed(2)}${mark(ratio, atMost)}`;
}

/** Suffix of a figure that has a goal: ` (≤ 1.00 ✓)`. Nothing where there is none. */
export function mark(value: number, atMost: number | undefined): string {
  if (atMost === undefined || Number.isNaN(atMost)) return '';
  return ` (≤ ${Number(atMost.toFixed(2))} ${value <= atMost ? '✓' : '✗'})`;
}
