/** Counts that an upstream has told; the members that stand for those it has not told are left out. */
export function toldUsage(usage: object): object {
  const told = Object.entries(usage).filter(
    ([name, value]) => value !== null && !(name.startsWith('cache_') && value === 0),
  );
  return Object.fromEntries(told);
}
