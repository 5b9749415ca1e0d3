import type { IncomingHttpHeaders } from 'node:http';
import { isRequestHeader, type HttpRequest } from '../../plugin/core.js';
import { release } from '../../kit/version.js';

export type Headers = Readonly<Record<string, string>>;

/**
 * Headers of one upstream request, lower case; the slot's win over its own. Asks for no compression, which
 * costs time for each small event; compressed answers are decoded anyway.
 */
export function requestHeaders(
  { headers: own, contentType = 'application/json' }: Pick<HttpRequest, 'headers' | 'contentType'>,
  slot: Headers,
): Record<string, string> {
  const headers: Record<string, string> = {
    'user-agent': userAgent,
    accept: 'text/event-stream, application/json',
    'accept-encoding': 'identity',
  };
  Object.assign(headers, own);
  headers['content-type'] = contentType;
  Object.assign(headers, slot);
  return headers;
}

/** The name of the first of these headers that is invalid in a request. */
export function wrongHeader(headers: Headers): string | undefined {
  return Object.keys(headers).find((name) => !isRequestHeader(name, headers[name] ?? ''));
}

/** Answer headers as one record: names are lower case, several values are joined by `, `. */
export function joinHeaders(headers: IncomingHttpHeaders): Headers {
  const joined: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) joined[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return joined;
}

/** Media type of an answer, without parameters; a duplicate header counts once if both are equal. */
export function mediaType(headers: Headers): string {
  const field = headers['content-type'] ?? '';
  const [usual] = usualField.exec(field) ?? [];
  if (usual !== undefined) return usual;
  const all = field.split(',');
  const types = all.map((one) => (one.split(';', 1)[0] ?? '').trim().toLowerCase());
  return [...new Set(types)].join(', ');
}

/** One media type in lower case, with parameters or without: a fast path for the usual form. */
const usualField = /^[a-z]+\/[a-z.+-]+(?=$|;[^,]*$)/;

const userAgent = `gw2api/${release}`;

/** The same headers under their HTTP names. */
export function lowerCase(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
