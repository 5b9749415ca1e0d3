import type { IncomingHttpHeaders } from 'node:http';

/** Default `anthropic-version`, for callers that send none. */
export const defaultAnthropicVersion = '2023-06-01';

/**
 * Headers of a caller for a Messages upstream: `anthropic-*` unchanged, `anthropic-version` added if missing,
 * and nothing else: no key, cookie, address or client name.
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

/** Beta flag for a context of a million tokens. */
export const longContextBeta = 'context-1m-2025-08-07';

/**
 * Headers of an upstream for the caller: request id, retry hints and rate limits. Names are lower case on both
 * sides.
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

/** True for a valid header value: no line end, no control character, nothing beyond Latin-1. */
export function isHeaderValue(text: string): boolean {
  return !notInHeaders.test(text);
}

/** True for a header that may be added to a request: valid in HTTP, and not about the connection. */
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
