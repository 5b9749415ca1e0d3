import { GatewayError } from '../contract/error.js';
import { errorFields } from '../events/error-shapes.js';
import { errorType, readError } from '../events/upstream-error.js';
import { withNamedWait } from './named-wait.js';
import { answerHeaders } from './headers.js';

/** Status line and headers of an upstream's answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ForeignOptions {
  /** Name of the upstream's kind, if the answer does not fit it. */
  readonly kind?: string;
  readonly cause?: unknown;
}

/** Error for an answer in another protocol: a page, a redirect, a text, something other than HTTP. */
export function foreign(slot: string, what: string, { kind, cause }: ForeignOptions = {}): GatewayError {
  const shown = firstWords(what); // the upstream's message may be kilobytes long
  const why = kind === undefined ? '' : `, which is not an answer of the kind "${kind}"`;
  return new GatewayError(
    'upstream_invalid_response',
    `The upstream of slot "${slot}" answered with ${shown}${why}; is its baseUrl right?`,
    { callersMessage: 'The upstream sent an invalid answer.', failure: { kind: 'foreign' }, cause },
  );
}

/**
 * Error of a refused call, from the upstream's own status, `error.type`, message, `details` and retry
 * headers; the code is the upstream's own, else the type, else that of the status. Accepts bodies of
 * other shapes, too (`errorFields`), and that are not JSON. A wait that the body names becomes `retry-after`.
 */
export function refusal(answer: Answer, body: string, nowMs = Date.now()): GatewayError {
  const { status } = answer;
  const error = errorFields(jsonFields(body));
  const headers = withNamedWait(answer, error, nowMs);
  const { type = errorType(status), code = errorType(status), message, details, param } = readError(error);
  return new GatewayError(code, message ?? wordsFor(status, body), {
    status,
    type,
    headers: answerHeaders(headers),
    details,
    param,
    failure: { kind: 'status', status, headers },
  });
}

/** The fields of a JSON object; none if the text is something else. */
export function jsonFields(text: string): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {}; // an error page of a proxy, or a truncated answer
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  // Any object may be read by name.
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** A page's title, or the beginning of a text. */
function wordsFor(status: number, body: string): string {
  const head = body.slice(0, maxSearchedLength);
  const text = titleIn(head) ?? (/^\s*[<{[]/.test(head) ? '' : head);
  const words = firstWords(text.replaceAll(/\s+/g, ' ').trim());
  return `The upstream answered ${status}${words ? `: ${words}` : ''}.`;
}

/** The words that fit, whole, since half of a credential could not be recognised. */
function firstWords(text: string): string {
  if (text.length <= maxWordsLength) return text;
  const end = text.lastIndexOf(' ', maxWordsLength);
  return text.slice(0, end > 0 ? end : maxWordsLength);
}

const maxWordsLength = 200;

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
