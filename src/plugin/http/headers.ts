import type { IncomingHttpHeaders } from 'node:http';

/** The version of the Messages API that a caller who names none is taken to speak. */
export const defaultAnthropicVersion = '2023-06-01';

/**
 * What of a caller's headers goes to a Messages upstream: `anthropic-*` unchanged, with `anthropic-version` where it is
 * missing, and nothing else: no key, no cookie, no address, no client's name (design §6 "headers to a Messages upstream").
 */
export function forwardedHeaders(caller: IncomingHttpHeaders): Record<string, string> {
  const forwarded: Record<string, string> = { 'anthropic-version': defaultAnthropicVersion };
  for (const name in caller) {
    if (!name.startsWith('anthropic-')) continue;
    const value = caller[name];
    if (value !== undefined) forwarded[name] = [value].flat().join(', ');
  }
  return forwarded;
}

/**
 * What of an upstream's answer headers reaches the caller: the request id, when and whether to try again, and the rate
 * limits (design §6 "answer headers"). Names are lower case on both sides.
 */
export function answerHeaders(upstream: Readonly<Record<string, string>>): Record<string, string> {
  const answer: Record<string, string> = {};
  for (const name in upstream) if (reachesCaller(name)) answer[name] = upstream[name] ?? '';
  return answer;
}

const passedOn = new Set(['request-id', 'retry-after', 'retry-after-ms', 'x-should-retry']);

function reachesCaller(name: string): boolean {
  return passedOn.has(name) || name.startsWith('anthropic-ratelimit-') || name.startsWith('x-ratelimit-');
}

/** True for a text that can stand in a header: no line end, no control character, nothing beyond Latin-1. */
export function isHeaderValue(text: string): boolean {
  return !notInHeaders.test(text);
}

/** True for a header that may be added to a request: HTTP takes it, and it does not speak about the connection. */
export function isRequestHeader(name: string, text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !ofConnections.has(name.toLowerCase()) && isHeaderValue(text);
}

const ofConnections = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const notInHeaders = /[^\t\x20-\x7e\x80-\xff]/;
