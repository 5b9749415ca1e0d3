/** Difference of two JSON values at one place. */
export interface Difference {
  /** `messages[0].content[1].text`; empty for the whole. */
  readonly path: string;
  /** Absent for an addition. */
  readonly before?: unknown;
  /** Absent for a removal. */
  readonly after?: unknown;
}

/** Differences found, at most `max`, and the number of further ones. */
export interface Differences {
  readonly found: readonly Difference[];
  readonly more: number;
}

/** Max values that one comparison visits; parts beyond it count as changed. */
const maxVisits = 2_000_000;

/**
 * Differences of two JSON values. Detects insertions into and removals from a list: the parts that the lists have in
 * common at both ends are left out.
 */
export function differences(before: unknown, after: unknown, max = 100): Differences {
  const comparison = new Comparison(max);
  comparison.compare('', before, after);
  return { found: comparison.found, more: comparison.more };
}

/** True for JSON values that are the same, in any order of their keys. */
export function isSame(before: unknown, after: unknown): boolean {
  return new Comparison(1).isSame(before, after);
}

class Comparison {
  readonly found: Difference[] = [];
  more = 0;
  readonly #max: number;
  #visits = 0;

  constructor(max: number) {
    this.#max = max;
  }

  compare(path: string, before: unknown, after: unknown): void {
    if (before === after) return;
    if (Array.isArray(before) && Array.isArray(after)) this.#compareLists(path, before, after);
    else if (isPlain(before) && isPlain(after)) this.#compareObjects(path, before, after);
    else this.#add({ path, before, after });
  }

  isSame(before: unknown, after: unknown): boolean {
    this.#visits += 1;
    if (before === after) return true;
    if (this.#visits > maxVisits) return false;
    if (Array.isArray(before) && Array.isArray(after))
      return before.length === after.length && before.every((item, at) => this.isSame(item, after[at]));
    if (!isPlain(before) || !isPlain(after)) return false;
    const keys = Object.keys(before);
    if (keys.length !== Object.keys(after).length) return false;
    return keys.every((key) => Object.hasOwn(after, key) && this.isSame(before[key], after[key]));
  }

  #compareObjects(path: string, before: Plain, after: Plain): void {
    for (const key of Object.keys(before)) {
      const place = placeOf(path, key);
      if (!Object.hasOwn(after, key)) this.#add({ path: place, before: before[key] });
      else if (!this.isSame(before[key], after[key])) this.compare(place, before[key], after[key]);
    }
    for (const key of Object.keys(after))
      if (!Object.hasOwn(before, key)) this.#add({ path: placeOf(path, key), after: after[key] });
  }

  #compareLists(path: string, before: readonly unknown[], after: readonly unknown[]): void {
    const shorter = Math.min(before.length, after.length);
    let start = 0;
    while (start < shorter && this.isSame(before[start], after[start])) start += 1;
    let end = 0;
    while (end < shorter - start && this.isSame(before.at(-1 - end), after.at(-1 - end))) end += 1;
    const [removed, added] = [
      before.slice(start, before.length - end),
      after.slice(start, after.length - end),
    ];
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      const place = `${path}[${start + at}]`;
      if (at >= added.length) this.#add({ path: place, before: removed[at] });
      else if (at >= removed.length) this.#add({ path: place, after: added[at] });
      else if (!this.isSame(removed[at], added[at])) this.compare(place, removed[at], added[at]);
    }
  }

  #add(difference: Difference): void {
    if (this.found.length < this.#max) this.found.push(difference);
    else this.more += 1;
  }
}

type Plain = Readonly<Record<string, unknown>>;

function isPlain(value: unknown): value is Plain {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function placeOf(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

/** Copy of a JSON value, unaffected by later changes in place. */
export function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyOf(inner)]));
}
