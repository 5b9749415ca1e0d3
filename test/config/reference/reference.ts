import { isDeepStrictEqual } from 'node:util';
import { isCollection, isScalar, parse, stringify } from 'yaml';
import { sections } from '#src/config/sections/sections.js';
import type { Facts } from './facts.js';
import { keyLines, type KeyLine } from './key-lines.js';

/**
 * The reference config as the schemas have it: above each key their words, in sections their defaults, and the keys that
 * it lacks. All else is written by hand and stays: entries of lists and the comments above them, values of options.
 */
export function writeReference(text: string, facts: Facts): string {
  const keys = keyLines(text, (path) => facts.get(path)?.words !== undefined);
  const lines = text.split('\n');
  const edits = [
    ...described(keys, lines).flatMap((key) => wordsOf(key, lines, keys, facts)),
    ...keys.flatMap((key) => valueOf(key, text, lines, facts)),
    ...missing(keys, facts),
  ];
  for (const { from, to, put } of edits.toSorted((a, b) => b.from - a.from || b.to - a.to))
    lines.splice(from, to - from, ...put);
  return lines.join('\n');
}

/** Lines to put in place of those from `from` up to `to`. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly put: readonly string[];
}

/** The key of each path that has its words: the first one with a comment, else the first. */
function described(keys: readonly KeyLine[], lines: readonly string[]): readonly KeyLine[] {
  const chosen = new Map<string, KeyLine>();
  for (const key of keys.filter(({ isEntry }) => !isEntry)) {
    const known = chosen.get(key.path);
    if (!known || (!isComment(lines[known.line - 1]) && isComment(lines[key.line - 1])))
      chosen.set(key.path, key);
  }
  return [...chosen.values()];
}

function isComment(line = ''): boolean {
  return /^\s*#/.test(line);
}

function wordsOf(
  { path, line, column }: KeyLine,
  lines: readonly string[],
  keys: readonly KeyLine[],
  facts: Facts,
): readonly Edit[] {
  const words = facts.get(path)?.words;
  if (words === undefined) return [];
  let from = line;
  while (isComment(lines[from - 1]) && !keys.some((key) => key.line === from - 1)) from -= 1;
  return [{ from, to: line, put: comment(words, column) }];
}

/** Words as lines of a comment. */
function comment(words: string, column: number): readonly string[] {
  const indent = `${' '.repeat(column)}#`;
  const lines: string[] = [];
  for (const word of words.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`${indent} ${word}`);
  }
  return lines;
}

const width = 120;

/** The value of a setting of a section, where it is another one than that of its schema. */
function valueOf(
  { path, line, value }: KeyLine,
  text: string,
  lines: readonly string[],
  facts: Facts,
): readonly Edit[] {
  const shown = facts.get(path)?.shown;
  if (!isOfSection(path) || shown === undefined || !value?.range) return [];
  if (takesKeys(value)) return [];
  const [from, to] = value.range;
  const written = text.slice(from, to);
  if (isDeepStrictEqual(parse(written), shown)) return [];
  const place = (lines[line] ?? '').lastIndexOf(written);
  const put = `${(lines[line] ?? '').slice(0, place)}${inline(shown)}`;
  return [{ from: line, to: line + 1, put: [put] }];
}

function isBlock(value: unknown): boolean {
  return isCollection(value) && value.flow !== true;
}

function takesKeys(value: unknown): boolean {
  return isBlock(value) || (isScalar(value) && value.value === null);
}

function isOfSection(path: string): boolean {
  return Object.hasOwn(sections, path.replace(/\..*$/, ''));
}

/** A value as YAML of one line. */
export function inline(value: unknown): string {
  return stringify(value, {
    collectionStyle: 'flow',
    singleQuote: true,
    lineWidth: 0,
    flowCollectionPadding: false,
  }).trim();
}

/** The settings of sections that the text lacks, each below the one before it. */
function missing(keys: readonly KeyLine[], facts: Facts): readonly Edit[] {
  const written = new Map(keys.map((key) => [key.path, key]));
  let above: KeyLine | undefined;
  return [...facts].flatMap(([path, { words = '', shown }]): readonly Edit[] => {
    const parent = written.get(path.replace(/\.[^.]*$/, ''));
    if (written.has(path)) above = written.get(path);
    if (written.has(path) || !isOfSection(path) || !takesKeys(parent?.value)) return [];
    if (shown === undefined)
      throw new Error(`${path} needs a default, or "examples", for the reference config`);
    const isFirst = above === undefined || !above.path.startsWith(`${parent?.path}.`);
    const column = isFirst ? (parent?.column ?? 0) + 2 : (above?.column ?? 0);
    const at = (isFirst ? parent?.line : above?.end) ?? 0;
    const key = path.replace(/^.*\./, '');
    return [
      {
        from: at + 1,
        to: at + 1,
        put: [...comment(words, column), `${' '.repeat(column)}${key}: ${inline(shown)}`],
      },
    ];
  });
}
