import type { EntryChange } from './config-diff.js';
import { compareValues, noValue, type Value } from './values.js';

/** An entry of a list, to be compared with the one of its name. */
export interface Entry {
  /** Unique in its list. */
  readonly name: string;
  readonly value: Value;
  /** Value of an entry that sets none itself; default: no value. */
  readonly defaults?: () => Value;
}

interface Lists {
  readonly before: readonly Entry[];
  readonly after: readonly Entry[];
}

/** Changes of a list in its new order, then the removed entries. Without `isOrdered` nothing is moved. */
export function diffEntries(
  { before, after }: Lists,
  { isOrdered }: { readonly isOrdered: boolean },
): EntryChange[] {
  const old = new Map(before.map((entry, at) => [entry.name, { entry, at }]));
  const names = new Set(after.map(({ name }) => name));
  const steady = isOrdered ? steadyNames(after, old) : names;
  const changes = after.flatMap((entry, at): readonly EntryChange[] => {
    const known = old.get(entry.name);
    if (!known) return [addedEntry(entry)];
    const moved = !steady.has(entry.name) && {
      moved: { was: nameAbove(before, known.at), now: nameAbove(after, at) },
    };
    const settings = [...compareValues(known.entry.value, entry.value)];
    if (settings.length === 0 && !moved) return [];
    return [{ name: entry.name, change: 'changed', ...moved, settings }];
  });
  const gone = before.filter(({ name }) => !names.has(name));
  return [...changes, ...gone.map(({ name }) => ({ name, change: 'removed' as const, settings: [] }))];
}

function addedEntry({ name, value, defaults }: Entry): EntryChange {
  const settings = compareValues(defaults?.() ?? noValue, value)
    .filter(({ change }) => change !== 'removed')
    .map(({ before: _, ...setting }) => ({ ...setting, change: 'added' as const }));
  return { name, change: 'added', settings };
}

function nameAbove(entries: readonly Entry[], at: number): string | null {
  return entries[at - 1]?.name ?? null;
}

/**
 * Names of the largest set of entries that kept their order: a longest increasing subsequence of their old positions,
 * in n log n.
 */
function steadyNames(
  after: readonly Entry[],
  old: ReadonlyMap<string, { readonly at: number }>,
): ReadonlySet<string> {
  const kept = after.flatMap(({ name }) => {
    const known = old.get(name);
    return known ? [{ name, at: known.at }] : [];
  });
  /** For each length, the last link of the chain of that length that ends at the lowest position. */
  const tails: Link[] = [];
  for (const { name, at } of kept) {
    const length = lengthBelow(tails, at);
    tails[length] = { name, at, previous: tails[length - 1] };
  }
  const names = new Set<string>();
  for (let link = tails.at(-1); link; link = link.previous) names.add(link.name);
  return names;
}

interface Link {
  readonly name: string;
  readonly at: number;
  readonly previous: Link | undefined;
}

/** Number of tails with a lower position, by binary search. */
function lengthBelow(tails: readonly Link[], at: number): number {
  let [low, high] = [0, tails.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tails[middle]?.at ?? Infinity) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
