import type { SearchTurn } from './search-time.js';

export interface Match {
  /** Name of the pattern. */
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export interface Pattern {
  readonly name: string;
  /** First match at or after `from`. Takes time linear in the text, or the remaining time of `turn`. */
  find(text: string, from: number, turn?: SearchTurn): Match | undefined;
}

/** Known patterns. Their expressions have no unbounded repetition, which keeps the search linear. */
export const namedPatterns = {
  email: { name: 'email', find: findEmail },
  card: { name: 'card', find: findCard },
  phone: pattern(
    'phone',
    /(?<![\w+.-])(?:\+\d(?:[ ().-]{0,2}\d){6,14}|\(?0\d{1,5}\)?(?:[ /.-]{1,2}\d{2,8}){1,5}|(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4})(?![\w-])/g,
  ),
  iban: pattern('iban', /(?<![A-Za-z\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]){11,30}(?![A-Za-z\d])/g, ibanLength),
} as const satisfies Readonly<Record<string, Pattern>>;

/** Pattern of an expression; `accept` gives the length of the value at the start of what it finds, 0 for none. */
function pattern(name: string, expression: RegExp, accept = (found: string) => found.length): Pattern {
  return {
    name,
    find(text, from) {
      const search = new RegExp(expression); // with a position of its own
      search.lastIndex = from;
      for (let found = search.exec(text); found; found = search.exec(text)) {
        const length = accept(found[0]);
        if (length > 0) return { name, start: found.index, end: found.index + length };
        search.lastIndex = found.index + 1;
      }
      return undefined;
    },
  };
}

const word = String.raw`[\p{L}\p{M}\p{N}_.+-]`;
const sign = "[!#$%&'*/=?^`{|}~]";
const topLevel = String.raw`(?:[a-z]{2,24}|xn--[a-z\d-]{2,59})(?![\w-])|(?![a-z])[\p{L}\p{M}]{2,24}`;

/**
 * The `@` and the domain of a mail address, and its local part of at most 64 characters, read backwards. Signs count
 * only between words, so that quotes and other marks around an address stay outside.
 */
const emailEnd = new RegExp(
  String.raw`@(?<=((?:${word}|(?<=${word})${sign}(?=${word})){1,64})@)(?:[\p{L}\p{M}\p{N}-]{1,63}\.){1,8}(?:${topLevel})`,
  'giu',
);

function findEmail(text: string, from: number): Match | undefined {
  const search = new RegExp(emailEnd); // with a position of its own
  search.lastIndex = from;
  for (let found = search.exec(text); found; found = search.exec(text)) {
    const [end, local = ''] = found;
    const start = Math.max(from, found.index - local.length);
    if (start < found.index) return { name: 'email', start, end: found.index + end.length };
  }
  return undefined;
}

function findCard(text: string, from: number): Match | undefined {
  const first = nextCard(text, from);
  if (!first) return undefined;
  let { end } = first;
  // Part of it may be other digits, which fit the begin of the number by chance.
  let next = first.isPart ? nextCard(text, first.start + 1) : undefined;
  for (; next && next.start < end; next = nextCard(text, next.start + 1)) end = Math.max(end, next.end);
  return { name: 'card', start: first.start, end };
}

interface Card {
  readonly start: number;
  readonly end: number;
  /** True if further digits follow that a number could have. */
  readonly isPart: boolean;
}

function nextCard(text: string, from: number): Card | undefined {
  const search = /(?<![\w-])\d(?:[ -]?\d){12,18}(?!\w)/g;
  search.lastIndex = from;
  for (let found = search.exec(text); found; found = search.exec(text)) {
    const { index: start } = found;
    const length = cardLength(found[0]);
    if (length > 0) return { start, end: start + length, isPart: length < found[0].length };
    search.lastIndex = start + 1;
  }
  return undefined;
}

/** Luhn's checksum of a card number, tried at the end of each group, because other digits may follow. */
function cardLength(found: string): number {
  const sums = { even: 0, odd: 0 }; // with the digits at even places doubled, and those at odd ones
  let count = 0;
  let length = 0;
  for (let at = 0; at < found.length; at += 1) {
    const digit = found.charCodeAt(at) - zero;
    if (digit < 0) continue; // a space or a hyphen
    const doubled = digit > 4 ? 2 * digit - 9 : 2 * digit;
    sums.even += count % 2 === 0 ? doubled : digit;
    sums.odd += count % 2 === 0 ? digit : doubled;
    count += 1;
    const sum = count % 2 === 0 ? sums.even : sums.odd;
    if (count >= minCardDigits && sum % 10 === 0 && !isDigit(found, at + 1)) length = at + 1;
  }
  return length;
}

function isDigit(text: string, at: number): boolean {
  return text.charCodeAt(at) >= zero; // of a text of digits, spaces and hyphens
}

const minCardDigits = 13;

/**
 * Checksum of an IBAN: modulo 97, letters as numbers, the first four characters last. Tried at the end of each
 * group, because a word may follow.
 */
function ibanLength(found: string): number {
  let rest = 0;
  let length = 0;
  for (let at = 4; at < found.length; at += 1) {
    if (found[at] !== ' ') rest = appended(rest, found.charCodeAt(at));
    const isEnd = at + 1 === found.length || found[at + 1] === ' ';
    if (isEnd && at >= 14 && withHead(rest, found) === 1) length = at + 1;
  }
  return length;
}

function withHead(rest: number, found: string): number {
  let whole = rest;
  for (let at = 0; at < 4; at += 1) whole = appended(whole, found.charCodeAt(at));
  return whole;
}

/** Remainder of a number after a digit, or a letter of two digits, has been appended. */
function appended(rest: number, code: number): number {
  return code >= letterA ? (rest * 100 + code - letterA + 10) % 97 : (rest * 10 + code - zero) % 97;
}

const zero = 0x30;
const letterA = 0x41;
