/** Cumulative sums of the rows, for stacked bars; null counts as zero. */
export function stack(rows: readonly (readonly (number | null)[])[]): number[][] {
  const sums: number[][] = [];
  for (const row of rows) {
    const below = sums.at(-1);
    sums.push(row.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return sums;
}
