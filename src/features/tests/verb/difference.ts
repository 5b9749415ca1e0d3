import { structuredPatch } from 'diff';

/** Lines of a difference: `- ` expected, `+ ` got, two spaces for common ones. */
export type DiffLines = readonly string[];

/** Max lines that are searched in one side alone; above it each side is one block. */
const maxEditLength = 1000;

/** Max lines that are shown. */
const maxShown = 40;

/** Max characters of a shown line. */
const maxWidth = 160;

/** Max depth of a value that is shown. */
const maxDepth = 40;

/** Lines around a change that both have. */
const context = 2;

/** The smallest part in which two values differ; undefined if one line is enough. */
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

/** Copy without parts that are nested too deeply to be written. */
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

/** The changed lines with some around them, and `…` for those between two changes. */
function changes(expected: readonly string[], actual: readonly string[]): DiffLines {
  const [before, after] = [expected, actual].map((lines) => `${lines.join('\n')}\n`) as [string, string];
  const patch = structuredPatch('', '', before, after, '', '', { context, maxEditLength });
  const hunks = patch?.hunks.map(({ lines }) => lines.map((line) => `${line[0]} ${line.slice(1)}`));
  const lines = hunks
    ? hunks.flatMap((hunk, at) => (at === 0 ? hunk : ['  …', ...hunk]))
    : [...block('-', expected), ...block('+', actual)];
  const rest = lines.length - maxShown;
  const shown = lines.slice(0, maxShown).map((line) => clip(line, maxWidth));
  return rest > 0 ? [...shown, `  … ${rest} more lines`] : shown;
}

/** The first lines of a side with more differences than the limit of the search. */
function block(sign: string, lines: readonly string[]): readonly string[] {
  return lines.slice(0, maxShown / 2).map((line) => `${sign} ${line}`);
}

function clip(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
