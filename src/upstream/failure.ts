import { GatewayError, answerHeaders, isGatewayError } from '../plugin/index.js';
import type { Headers } from './headers.js';
import { errors } from '../network/undici.js';

/** Status line and headers of an answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
}

/**
 * Error of a connection that failed or closed before an answer. `reused`: it had served another call before.
 */
export function unreachable(slot: string, cause: Error, reused = false): GatewayError {
  return new GatewayError(
    'upstream_unreachable',
    `Slot "${slot}" could not reach its upstream${codeOf(cause)}.`,
    { failure: { kind: 'unreachable', reused }, cause },
  );
}

/** No answer of HTTP came: nothing at all, or something else. */
export function unanswered(slot: string, cause: Error, reused: boolean): GatewayError {
  if (cause instanceof errors.HTTPParserError) return foreign(slot, 'something else than HTTP', cause);
  if (cause instanceof errors.HeadersOverflowError) return foreign(slot, 'more headers than are read', cause);
  return unreachable(slot, cause, reused);
}

export function timedOut(
  slot: string,
  what: 'begin to answer' | 'go on with its answer',
  ms: number,
): GatewayError {
  return new GatewayError(
    'upstream_timeout',
    `The upstream of slot "${slot}" did not ${what} within ${ms} ms.`,
    { failure: { kind: 'timeout' } },
  );
}

/**
 * Error of a call not sent because of an invalid header of the slot. Another slot may serve the request; this
 * one gets a cooldown, as when it is unreachable.
 */
export function unsendable(slot: string, name: string): GatewayError {
  const message = `Slot "${slot}" adds a header that HTTP does not take, ${JSON.stringify(name)}; correct its headers.`;
  return new GatewayError('upstream_unreachable', message, {
    failure: { kind: 'unreachable', reused: false },
  });
}

/** An answer that is not of this protocol: a page, a redirect, a text, something else than HTTP. */
export function foreign(slot: string, what: string, cause?: unknown): GatewayError {
  const shown = what.slice(0, 200); // the upstream's own words may be kilobytes
  return new GatewayError(
    'upstream_invalid_response',
    `The upstream of slot "${slot}" answered with ${shown}, which is not a Messages answer; is its baseUrl right?`,
    { failure: { kind: 'foreign' }, cause },
  );
}

/**
 * Error of a refused call, from the upstream's own status, `error.type`, message, `details` and retry
 * headers; the code is the upstream's own, else the type (design §6). Also accepts bodies that are not JSON
 * or have another shape.
 */
export function refusal({ status, headers }: Answer, body: string): GatewayError {
  const error = errorFields(body);
  const type = asText(error['type']) ?? typeOf(status);
  return new GatewayError(asText(error['code']) ?? type, asText(error['message']) ?? wordsFor(status, body), {
    status,
    type,
    headers: answerHeaders(headers),
    details: error['details'] ?? undefined,
    failure: { kind: 'status', status, headers },
  });
}

/** True if a reused connection closed without an answer, which is no evidence about the upstream's health. */
export function isClosedReuse(error: unknown): boolean {
  return isGatewayError(error) && error.failure?.kind === 'unreachable' && error.failure.reused;
}

/** The fields of a JSON object; none where the text is something else. */
export function fieldsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {}; // a page of some proxy, or half an answer: it has no fields
  }
}

/** The `error` object of a body, in the shape of either vendor; empty if there is none. */
function errorFields(body: string): Readonly<Record<string, unknown>> {
  const { error, message } = fieldsIn(body);
  if (typeof error === 'string') return { message: error };
  return error === undefined ? { message } : asObject(error);
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  // Any object may be read by name.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A page's title, or the beginning of a text. */
function wordsFor(status: number, body: string): string {
  const head = body.slice(0, maxSearchedLength);
  const text = titleIn(head) ?? (/^\s*[<{[]/.test(head) ? '' : head);
  const words = text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  return `The upstream answered ${status}${words ? `: ${words}` : ''}.`;
}

/** Max length searched for a title; later ones are not worth reporting. */
const maxSearchedLength = 4096;

/** Title of an HTML page, by `indexOf` in linear time: a pattern would rescan the page at each `<title`. */
function titleIn(page: string): string | undefined {
  const tagAt = page.search(/<title/i);
  const textAt = tagAt === -1 ? 0 : page.indexOf('>', tagAt) + 1;
  if (textAt === 0) return undefined;
  const end = page.indexOf('<', textAt);
  return page.slice(textAt, end === -1 ? undefined : end);
}

/** `error.type` of an answer that names none. */
const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
};

function typeOf(status: number): string {
  return typeOfStatus[status] ?? (status < 500 ? 'invalid_request_error' : 'upstream_error');
}

/** Suffix ` (ECONNREFUSED)`: the code names the fault, but no host. */
function codeOf(error: Error): string {
  const code = 'code' in error ? asText(error.code) : undefined;
  return code ? ` (${code})` : '';
}
