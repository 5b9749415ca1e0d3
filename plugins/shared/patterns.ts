import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { RE2JS } from 're2js';
import { Type } from '@gw2api/gateway/plugin';
import { findMatch } from './long-search.js';
import type { SearchTime, SearchTurn } from './search-time.js';
import { namedPatterns, type Match, type Pattern } from './named-patterns.js';

export type { Match, Pattern } from './named-patterns.js';

/** Option: the name of a known pattern, or a pattern with a name of its own. */
export const PatternOption = Type.Union([
  Type.Enum(['email', 'card', 'phone', 'iban'] as const),
  Type.Object({
    /** Name in placeholders, metrics and messages. */
    name: Type.String({ pattern: '^[a-z][a-z0-9-]{0,19}$' }),
    /** RE2 syntax: no look-around and no back references, so that any text is searched in linear time. */
    pattern: Type.String({ minLength: 1, maxLength: 2000 }),
  }),
]);

export type PatternChoice = keyof typeof namedPatterns | { readonly name: string; readonly pattern: string };

/** Compiles the patterns of an option; throws an error that names the one that cannot be. */
export function compilePatterns(choices: readonly PatternChoice[]): readonly Pattern[] {
  return choices.map((choice, nth) => {
    if (typeof choice === 'string') return namedPatterns[choice];
    const place = `patterns[${nth}].pattern`;
    const expression = compilePattern(choice.pattern, place);
    if (expression.matcher('').find())
      throw new Error(
        `${place}: matches the empty text, which occurs everywhere; require a character, such as a+ instead of a*`,
      );
    return ownPattern(choice.name, expression);
  });
}

/** Compiles an operator's pattern; throws an error that names the option at `place`. */
export function compilePattern(pattern: string, place: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${place}: ${reason} (the syntax is that of RE2)`, { cause });
  }
}

/**
 * Pattern of a module: its default export is `(text, from) => { start, end }`
 * or undefined. Throws an error that names the module.
 */
export async function importPattern(file: string): Promise<Pattern> {
  const { default: find } = (await import(pathToFileURL(file).href)) as { default?: unknown };
  if (typeof find !== 'function') throw new Error(`module: ${file} does not export a function as default.`);
  const name = path.parse(file).name;
  return {
    name,
    find(text, from) {
      const match: unknown = find(text, from);
      if (match === undefined || match === null) return undefined;
      const { start, end } = match as Partial<Match>; // checked here
      if (start !== undefined && end !== undefined && from <= start && start < end && end <= text.length)
        return { name, start, end };
      const found = JSON.stringify(match);
      throw new Error(
        `${file} found ${found} from ${from}: return { start, end } within the text, or undefined.`,
      );
    },
  };
}

function ownPattern(name: string, expression: RE2JS): Pattern {
  return {
    name,
    find(text, from, turn) {
      const matcher = expression.matcher(text);
      let at = from;
      while (at < text.length && matcher.find(at)) {
        turn?.check(name);
        if (matcher.end() > matcher.start()) return { name, start: matcher.start(), end: matcher.end() };
        at = matcher.end() + 1; // an empty match is none
      }
      return undefined;
    },
  };
}

/** First match of any pattern at or after `from`; of several at one place, that of the first pattern. */
export function firstMatch(patterns: readonly Pattern[], text: string, from: number): Match | undefined {
  let first: Match | undefined;
  for (const pattern of patterns) {
    const match = pattern.find(text, from);
    if (match && (!first || match.start < first.start)) first = match;
  }
  return first;
}

type Replacement = (match: Match, found: string) => string;

/**
 * Texts with all matches replaced, in order; each pattern searches a text once. Throws `invalid_request` if the time
 * is over.
 */
export function replaceMatches(
  patterns: readonly Pattern[],
  texts: readonly string[],
  replace: Replacement,
  time: SearchTime,
): Promise<readonly string[]> {
  return time.run(async (turn) => {
    const replaced: string[] = [];
    for (const text of texts) replaced.push(await withReplaced(patterns, text, replace, turn));
    return replaced;
  });
}

async function withReplaced(
  patterns: readonly Pattern[],
  text: string,
  replace: Replacement,
  turn: SearchTurn,
): Promise<string> {
  const next: (Match | undefined)[] = [];
  for (const pattern of patterns) next.push(await findMatch(pattern, text, 0, turn));
  let out = '';
  let from = 0;
  for (let match = earliest(next); match; match = earliest(next)) {
    out += text.slice(from, match.start) + replace(match, text.slice(match.start, match.end));
    from = match.end;
    for (const [nth, pattern] of patterns.entries())
      if ((next[nth]?.start ?? text.length) < from) next[nth] = await findMatch(pattern, text, from, turn);
  }
  return from === 0 ? text : out + text.slice(from);
}

function earliest(matches: readonly (Match | undefined)[]): Match | undefined {
  let first: Match | undefined;
  for (const match of matches) if (match && (!first || match.start < first.start)) first = match;
  return first;
}
