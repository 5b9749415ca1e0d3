import { changedError, type GatewayError } from 'gw2api/plugin';
import { jsonFields, refusal } from 'gw2api/plugin/upstream';
import { usedUpSeconds } from './rate-limit-headers.js';
import { fieldsOf, listOf, textOf, type Fields } from './fields.js';

/** Status line and headers of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Error of a call that a Chat server refuses, from any of the bodies that are in use: `{error: {message, type,
 * code}}`, `{error: "text"}`, `{detail}`, `{message}`, or one of them in a list.
 */
export function openaiRefusal(answer: AnswerHead, body: string, nowMs: number): GatewayError {
  const error = errorIn(body);
  const message = messageOf(error);
  if (message === '') return cooled(answer, refusal(answer, body), nowMs);
  const code = codeOf(error, message);
  const type = textOf(error['type']);
  const param = textOf(error['param']);
  const known = {
    message,
    ...(code && { code }),
    ...(messagesTypes.has(type) && { type }),
    ...(param && { param }),
  };
  return cooled(answer, refusal(answer, JSON.stringify({ error: known })), nowMs);
}

/** The fields of the error; a text is its message. */
function errorIn(body: string): Fields {
  const fields = jsonFields(body);
  const first = fieldsOf(listOf(fields)[0] ?? fields);
  const { error } = first;
  return typeof error === 'string' ? { ...first, message: error } : fieldsOf(error ?? first);
}

/** Message of an error; a router's own one with that of the provider behind it. */
function messageOf({ message, detail, metadata }: Fields): string {
  const own = textOf(message) || textOf(detail) || detailsIn(detail);
  const { raw } = fieldsOf(metadata);
  return typeof raw === 'string' && own !== '' ? `${own}: ${raw.slice(0, 1000)}` : own;
}

/** FastAPI's list of wrong fields: `[{loc, msg}]`. */
function detailsIn(detail: unknown): string {
  return listOf(detail)
    .slice(0, 10)
    .map((each) => {
      const { loc, msg } = fieldsOf(each);
      return `${listOf(loc).join('.')}: ${textOf(msg)}`;
    })
    .join('; ');
}

/** Code of an error, else its type; too long a prompt has one code for all servers, by which `fallback` routes. */
function codeOf({ code, type }: Fields, message: string): string {
  const own = textOf(code) || textOf(type);
  const isTooLong = tooLong.test(own.slice(0, 200)) || tooLong.test(message.slice(0, 1000));
  return isTooLong ? 'context_length_exceeded' : own;
}

const tooLong = /context[ _](?:length|window|size)|prompt is too long/i;

/** Error types that Messages has, too; others say no more than the status. */
const messagesTypes: ReadonlySet<string> = new Set([
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'not_found_error',
  'rate_limit_error',
  'overloaded_error',
  'api_error',
]);

/** Error whose slot cools down as long as the account is without credit, or as its limits say. */
function cooled({ status, headers }: AnswerHead, error: GatewayError, nowMs: number): GatewayError {
  if (status !== 429 || headers['retry-after'] !== undefined) return error;
  const seconds = error.code === 'insufficient_quota' ? quotaSeconds : usedUpSeconds(headers, nowMs);
  if (seconds === undefined) return error;
  const failure = {
    kind: 'status',
    status,
    headers: { ...headers, 'retry-after': String(seconds) },
  } as const;
  return changedError(error, { failure });
}

/** Time after which an account without credit is asked again. */
const quotaSeconds = 3600;
