/** Lines of a difference: `- ` expected, `+ ` got, two spaces for what both have. */
export type DiffLines = readonly string[];

/** Max lines of each side that are compared one by one; above it they are one block. */
const maxCompared = 500;

/** Max lines that are shown. */
const maxShown = 40;

/** Max characters of a shown line. */
const maxWidth = 160;

/** Max depth of a value that is shown. */
const maxDepth = 40;

/** Lines around a change that both have. */
const context = 2;

/** The smallest part in which two values differ; undefined where one line says it all. */
export function differenceOf(expected: unknown, actual: unknown): DiffLines | undefined {
  if (actual === undefined) return undefined;
  if (typeof expected === 'string' && typeof actual === 'string') {
    if (Math.max(expected.length, actual.length) <= 60 && !`${expected}${actual}`.includes('\n'))
      return undefined;
    if (!expected.includes('\n') && !actual.includes('\n')) return excerpts(expected, actual);
    return changes(expected.split('\n'), actual.split('\n'));
  }
  if (!isObject(expected) || !isObject(actual)) return undefined;
  return changes(linesOf(expected), linesOf(actual));
}

/** A value in one line. */
export function inOneLine(value: unknown, max = maxWidth): string {
  return value === undefined ? '(absent)' : clip(JSON.stringify(shallow(value, 0)), max);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function linesOf(value: unknown): readonly string[] {
  return JSON.stringify(shallow(value, 0), null, 2).split('\n');
}

/** Copy without what is nested too deep to be written. */
function shallow(value: unknown, depth: number): unknown {
  if (!isObject(value)) return value;
  if (depth === maxDepth) return '…';
  if (Array.isArray(value)) return value.map((item) => shallow(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shallow(item, depth + 1)]));
}

/** Two long lines around the first character in which they differ. */
function excerpts(expected: string, actual: string): DiffLines {
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at += 1;
  const start = Math.max(0, at - 30);
  const part = (text: string) => {
    const end = start + 90;
    return `${start > 0 ? '…' : ''}${JSON.stringify(text.slice(start, end)).slice(1, -1)}${end < text.length ? '…' : ''}`;
  };
  return [`- ${part(expected)}`, `+ ${part(actual)}`];
}

function changes(expected: readonly string[], actual: readonly string[]): DiffLines {
  let head = 0;
  while (head < expected.length && head < actual.length && expected[head] === actual[head]) head += 1;
  let tail = 0;
  const shorter = Math.min(expected.length, actual.length) - head;
  while (tail < shorter && expected.at(-1 - tail) === actual.at(-1 - tail)) tail += 1;
  const before = expected.slice(Math.max(0, head - context), head).map(same);
  const after = expected.slice(expected.length - tail, expected.length - tail + context).map(same);
  const middle = compare(
    expected.slice(head, expected.length - tail),
    actual.slice(head, actual.length - tail),
  );
  const lines = [...before, ...middle, ...after].map((line) => clip(line, maxWidth));
  const rest = lines.length - maxShown;
  return rest > 0 ? [...lines.slice(0, maxShown), `  … ${rest} more lines`] : lines;
}

function same(line: string): string {
  return `  ${line}`;
}

/** Lines that only one side has, and those that both have, by their longest common subsequence. */
function compare(expected: readonly string[], actual: readonly string[]): readonly string[] {
  if (expected.length > maxCompared || actual.length > maxCompared)
    return [
      ...expected.slice(0, maxShown / 2).map((line) => `- ${line}`),
      ...actual.slice(0, maxShown / 2).map((line) => `+ ${line}`),
    ];
  const lengths = commonLengths(expected, actual);
  const lines: string[] = [];
  for (let i = 0, j = 0; i < expected.length || j < actual.length;) {
    if (i < expected.length && j < actual.length && expected[i] === actual[j]) {
      lines.push(same(expected[i] ?? ''));
      i += 1;
      j += 1;
    } else if (
      j === actual.length ||
      (i < expected.length && at(lengths, i + 1, j) >= at(lengths, i, j + 1))
    ) {
      lines.push(`- ${expected[i]}`);
      i += 1;
    } else {
      lines.push(`+ ${actual[j]}`);
      j += 1;
    }
  }
  return lines;
}

/** Length of the longest common subsequence of what follows each pair of lines. */
function commonLengths(expected: readonly string[], actual: readonly string[]): readonly Uint16Array[] {
  const rows = Array.from({ length: expected.length + 1 }, () => new Uint16Array(actual.length + 1));
  for (let i = expected.length - 1; i >= 0; i -= 1)
    for (let j = actual.length - 1; j >= 0; j -= 1) {
      const row = rows[i];
      if (!row) continue;
      row[j] =
        expected[i] === actual[j]
          ? at(rows, i + 1, j + 1) + 1
          : Math.max(at(rows, i + 1, j), at(rows, i, j + 1));
    }
  return rows;
}

function at(rows: readonly Uint16Array[], i: number, j: number): number {
  return rows[i]?.[j] ?? 0;
}

function clip(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
