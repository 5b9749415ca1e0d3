/** The known name closest to a mistyped one; undefined if none is close enough. */
export function didYouMean(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .filter((candidate) => Math.abs(candidate.length - name.length) <= maxDistance(candidate)) // longer names are not typos
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= maxDistance(best.candidate) ? best.candidate : undefined;
}

function maxDistance({ length }: string): number {
  return Math.max(1, Math.floor(length / 3));
}

/** Edit distance: two swapped letters count as one slip, as does one letter too many, too few or wrong. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  const distance = (i: number, j: number) => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = distance(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? distance(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, distance(i - 1, j) + 1, distance(i, j - 1) + 1));
    }
  }
  return distance(a.length, b.length);
}
