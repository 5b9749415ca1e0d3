import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../contract/error.js';

/**
 * The key that a caller sent: `x-api-key`, else `Authorization: Bearer`; if neither holds one, `api-key`, else
 * `x-goog-api-key`. Throws `missing_api_key` with the problem of the sent headers.
 */
export function callerKey(headers: IncomingHttpHeaders): string {
  const key = sentKey(headers);
  if (key !== undefined) return key;
  throw new GatewayError('missing_api_key', `${faultOf(headers.authorization ?? '')} ${advice}`);
}

/** The key that a caller sent; undefined without one. */
export function sentKey(headers: IncomingHttpHeaders): string | undefined {
  return standardKey(headers) || textOf(headers['api-key']) || textOf(headers['x-goog-api-key']) || undefined;
}

/** True for a key in `x-api-key` or `Authorization: Bearer`; keys in other headers do not count then. */
export function hasStandardKey(headers: IncomingHttpHeaders): boolean {
  return standardKey(headers) !== '';
}

/** True for a caller that sends a header for keys, with any value. */
export function sendsKey(headers: IncomingHttpHeaders): boolean {
  return keyHeaders.some((name) => headers[name] !== undefined);
}

const keyHeaders = ['x-api-key', 'authorization', 'api-key', 'x-goog-api-key'] as const;

function standardKey(headers: IncomingHttpHeaders): string {
  return textOf(headers['x-api-key']) || bearerToken(headers.authorization);
}

function textOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' ? header.trim() : '';
}

function bearerToken(authorization: string | undefined): string {
  return authorization?.match(/^bearer +(.+)$/i)?.[1]?.trim() ?? '';
}

const advice = 'Send the key as "Authorization: Bearer <key>" or as "x-api-key: <key>".';

/** Sentence about a header `authorization` without a bearer token, without quoting any part of a possible key. */
function faultOf(authorization: string): string {
  const [scheme = '', ...rest] = authorization.trim().split(/\s+/);
  if (scheme === '') return 'No API key was sent.';
  if (/^bearer$/i.test(scheme)) return 'The header "Authorization" has the word Bearer, but no key after it.';
  if (/^basic$/i.test(scheme))
    return 'The header "Authorization" uses the scheme Basic, which is not supported here.';
  if (rest.length === 0)
    return 'The header "Authorization" contains a value without the word Bearer in front of it.';
  return 'The header "Authorization" uses a scheme other than Bearer, which is not supported here.';
}
