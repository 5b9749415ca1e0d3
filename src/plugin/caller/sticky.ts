import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Headers that name a session; the first one sent wins. */
const stickyHeaders = ['x-session-id', 'x-conversation-id', 'x-claude-code-session-id'] as const;

/** Other names of a session, by default. */
export const defaultStickyFrom = ['prompt_cache_key', 'metadata.user_id', 'session-id'] as const;

/** Other places of a session's name. */
export interface StickySource {
  /** Paths into the body and the request, and names of headers, tried in order. */
  readonly from: readonly string[];
  readonly body?: unknown;
  readonly request?: unknown;
}

/**
 * Sticky key of a session, scoped to the caller's key; undefined if nothing names a session. `source` is for
 * callers that send none of the headers; never anything derived from a system prompt, since sessions that share it
 * would crowd onto one slot.
 */
export function stickyKey(
  keyId: string,
  headers: IncomingHttpHeaders,
  source?: StickySource,
): string | undefined {
  const session = sessionName(headers, source);
  return session && `${keyId}:${hash('sha256', session, 'hex')}`;
}

/** Name of a session as the caller wrote it; undefined if nothing names one. */
export function sessionName(headers: IncomingHttpHeaders, source?: StickySource): string | undefined {
  for (const name of stickyHeaders) if (isName(headers[name])) return headers[name];
  if (!source) return undefined;
  const { from, body, request } = source;
  for (const { path, header } of placesOf(from))
    for (const named of [lookUp(body, path), lookUp(request, path), headers[header]])
      if (isName(named)) return named;
  return undefined;
}

interface Place {
  readonly path: readonly string[];
  readonly header: string;
}

/** Places of the lists in use, so that a name is not split for each request. */
const knownPlaces = new WeakMap<readonly string[], readonly Place[]>();

function placesOf(from: readonly string[]): readonly Place[] {
  const known = knownPlaces.get(from);
  if (known) return known;
  const places = from.map((name) => ({ path: name.split('.'), header: name.toLowerCase() }));
  knownPlaces.set(from, places);
  return places;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

/** Value at a dotted path: `metadata.user_id`. */
function lookUp(source: unknown, path: readonly string[]): unknown {
  let value = source;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name]; // it has that property
  }
  return value;
}
