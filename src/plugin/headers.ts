import type { IncomingHttpHeaders } from 'node:http';

/** The version of the Messages API that a caller who names none is taken to speak. */
export const defaultAnthropicVersion = '2023-06-01';

/**
 * What of a caller's headers goes to a Messages upstream: `anthropic-*` unchanged, with `anthropic-version` where it is
 * missing, and nothing else: no key, no cookie, no address, no client's name (design §6 "headers to a Messages upstream").
 */
export function forwardedHeaders(caller: IncomingHttpHeaders): Record<string, string> {
  const forwarded: Record<string, string> = { 'anthropic-version': defaultAnthropicVersion };
  for (const [name, value] of Object.entries(caller)) {
    if (value !== undefined && name.startsWith('anthropic-')) forwarded[name] = [value].flat().join(', ');
  }
  return forwarded;
}

/**
 * What of an upstream's answer headers reaches the caller: the request id, when and whether to try again, and the rate
 * limits (design §6 "answer headers"). Names are lower case on both sides.
 */
export function answerHeaders(upstream: Readonly<Record<string, string>>): Record<string, string> {
  const answer: Record<string, string> = {};
  for (const [name, value] of Object.entries(upstream)) if (reachesCaller(name)) answer[name] = value;
  return answer;
}

const passedOn = new Set(['request-id', 'retry-after', 'retry-after-ms', 'x-should-retry']);
const passedOnPrefixes = ['anthropic-ratelimit-', 'x-ratelimit-'];

function reachesCaller(name: string): boolean {
  return passedOn.has(name) || passedOnPrefixes.some((prefix) => name.startsWith(prefix));
}
