import { formsOf } from './secret-forms.js';

/** Part of a text, from `start` up to `end`. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** Secret in one of its forms, and the number of first characters that identify it. */
interface KnownForm {
  readonly form: string;
  readonly enough: number;
  /** False for the beginning of a secret that is longer than the searched part. */
  readonly isWhole: boolean;
}

/** Returns at most `maxLength` characters (code points) of a text, on one line and without secrets. */
export type TextMask = (text: string, maxLength: number) => string;

/**
 * Mask of secrets, plain, encoded or cut off, and of anything that looks like a credential. Takes time linear in a
 * bounded part of the text, which is masked before it is cut, so that no cut hides half of a secret.
 */
export function textMask(secrets: readonly string[]): TextMask {
  const known = knownForms(secrets);
  return (text, maxLength) => {
    const searched = text.slice(0, maxSearched);
    const end = searched.length < text.length ? maxSearched - margin : searched.length;
    const spans = [...known.flatMap((form) => spansOf(searched, form)), ...patternSpans(searched)];
    return firstCharacters(printable(blanked(searched, spans, end)), maxLength);
  };
}

/** Characters of a text that are searched. */
const maxSearched = 8192;

/** Length of the end that may begin an incomplete secret; longer than any pattern needs. */
const margin = 1024;

/** Secrets of one request, and the characters of each that are searched for. */
const maxSecrets = 100;
const maxForm = 2048;

/** Min length of a secret; a shorter one would match unrelated words. */
const minSecret = 6;

/** Min number of first characters that identify a secret, which ordinary words do not share. */
function headLength(form: string): number {
  const { index: randomAt = maxHead } = /\d|(?<=[a-z])[A-Z]/.exec(form) ?? {};
  return Math.min(Math.max(minHead, randomAt + 1), maxHead, form.length);
}

const minHead = 8;
const maxHead = 64;

function knownForms(secrets: readonly string[]): readonly KnownForm[] {
  const bare = secrets.map((secret) => secret.slice(0, maxForm).replace(scheme, ''));
  const cut = new Set(bare.filter((_, at) => (secrets[at]?.length ?? 0) > maxForm));
  const long = [...new Set(bare)].filter((secret) => secret.length >= minSecret).slice(0, maxSecrets);
  return long.flatMap((secret) => {
    const forms = new Set([...formsOf(secret), secret.replaceAll(/\s+/g, ' ')]);
    return [...forms]
      .filter((form) => form.length >= minSecret)
      .map((form) => ({ form, enough: headLength(form), isWhole: !cut.has(secret) }));
  });
}

/** Its name is not secret, and its beginning with the scheme would match sentences. */
const scheme = /^\s*(?:bearer|basic|token|negotiate|apikey)\s+/i;

/** Places of a secret, whole or not: cut off, or with its rest in an unknown encoding. */
function spansOf(text: string, { form, enough, isWhole }: KnownForm): readonly Span[] {
  const spans: Span[] = [];
  const head = form.slice(0, enough);
  for (let start = text.indexOf(head); start !== -1;) {
    let end = start + enough;
    while (end - start < form.length && end < text.length && text[end] === form[end - start]) end += 1;
    if (!isWhole || end - start < form.length) end = endOfWord(text, end);
    spans.push({ start, end });
    start = text.indexOf(head, end);
  }
  return spans;
}

function endOfWord(text: string, from: number): number {
  wordRest.lastIndex = from;
  return from + (wordRest.exec(text)?.[0].length ?? 0);
}

const wordRest = /[^\s"'`,<>(){}[\]]*/y;

function patternSpans(text: string): readonly Span[] {
  return secretPatterns.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(({ indices }) => {
      const [start, end] = indices?.groups?.['secret'] ?? [];
      return start === undefined || end === undefined ? [] : [{ start, end }];
    }),
  );
}

/** The text up to `end`, with one blank for each run of adjacent spans. */
function blanked(text: string, spans: readonly Span[], end: number): string {
  let shown = '';
  let at = 0;
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    if (span.start >= end) break;
    if (span.start > at || at === 0) shown += `${text.slice(at, span.start)}${blank}`;
    at = Math.max(at, span.end);
  }
  return at < end ? shown + text.slice(at, end) : shown;
}

const blank = '***';

/** A text on one line, without characters that control a screen or a database, and without half surrogate pairs. */
function printable(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/g, '')
    .replaceAll(/\p{Cs}/gu, '\uFFFD')
    .trim();
}

function firstCharacters(text: string, max: number): string {
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join('')
    .trimEnd();
}

const names = '(?:api[-_ ]?key|[-_]key|token|secret|passw(?:or)?d|authorization|signature|credential|cookie)';
const quotes = '[\\\\"\'`]{0,3}';
const schemes = '(?:(?:bearer|basic|token)\\s{1,4})?';
const value = '(?<secret>[^\\s"\'`\\\\,;&<>(){}[\\]*]{6,})';

/**
 * Expressions of credentials in the words of vendors, clients and servers; the group `secret` is the part to mask. For
 * a search in linear time they cannot start within a longer run of their characters, and repeat with a bound before a
 * required part.
 */
const secretPatterns: readonly RegExp[] = [
  // Keys by their vendors' prefixes, the gateway's own among them.
  /(?<![\w-])(?<secret>(?:sk|pk|rk|gw|ak|xai|gsk|hf|nvapi|pplx|fw|tgp|csk|r8|gh[oprsu]|github_pat|glpat|xox[abeoprs]|ya29)[-_.][\w.+/=-]{6,})/dg,
  /(?<![\w-])(?<secret>AIza[\w-]{20,}|(?:AKIA|ASIA|ABIA|ACCA)[A-Z\d]{12,})/dg,
  // JSON Web Tokens, also cut off.
  /(?<![\w-])(?<secret>eyJ[\w-]{8,}(?:\.[\w-]*){0,4})/dg,
  // Credentials by their scheme; "Bearer token is missing" has none.
  /\bbearer[\s:]{1,4}(?<secret>(?!(?:tokens?|auth(?:entication|orization)?|credentials?|scheme|header|realm|error)\b)[\w.~+/=-]{6,})/dgi,
  /\bbasic\s{1,4}(?<secret>(?=[A-Za-z+/]{0,200}[\d=])[\w+/=-]{6,})/dgi,
  // Values by their names: in JSON and queries; in headers and sentences where they have a digit.
  new RegExp(
    `${names}${quotes}\\s{0,3}(?:=>?|:(?=\\s{0,3}[\\\\"'\`]))\\s{0,3}${quotes}${schemes}${value}`,
    'dgi',
  ),
  new RegExp(`${names}${quotes}\\s{0,3}:\\s{0,3}${quotes}${schemes}(?=[^\\s\\d]{0,200}\\d)${value}`, 'dgi'),
  // Users and passwords of addresses, and the values of their queries.
  /:\/\/(?<secret>[^\s/?#"'<>]{1,400})@/dg,
  /[?&][\w.~%-]{1,60}=(?<secret>[^\s&#"'<>]+)/dg,
  /(?<secret>-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?)/dg,
  // Long runs of letters and digits: keys without a prefix, and encoded content; no UUID is as long.
  /(?<![\w-])(?<secret>(?=[A-Za-z_-]*\d)[\w-]{48,}={0,2})/dg,
];
