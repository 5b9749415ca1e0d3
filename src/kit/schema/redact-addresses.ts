import { blank } from './redact-marked.js';

/** Redacts the user, the password and the query values of every URL in a copy of a config. */
export function redactAddresses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => redactAddresses(item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactAddresses(inner)]));
  return typeof value === 'string' ? blankAddress(value) : value;
}

/** Redacts a URL by pattern: a parser would reject a password that is not percent-encoded. */
function blankAddress(text: string): string {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return text;
  return text.replace(/(:\/\/)[^/?#]*@/, `$1${blank}@`).replace(/([?&][^=&#?]*=)[^&#]*/g, `$1${blank}`);
}
