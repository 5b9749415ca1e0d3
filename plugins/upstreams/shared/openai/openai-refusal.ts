import { changedError, namedLimit, type GatewayError } from '@gw2api/gateway/plugin';
import { errorFields, errorType, jsonFields, refusal } from '@gw2api/gateway/plugin/upstream';
import { fieldsOf, textOf, type Fields } from '../fields.js';

/** Status line and headers of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Error of a call that a server of the OpenAI formats refuses, with a type of the Messages API. */
export function openaiRefusal(answer: AnswerHead, body: string, nowMs?: number): GatewayError {
  const error = errorFields(jsonFields(body));
  const refused = refusal(answer, body, nowMs);
  const message = messageOf(error, refused.message);
  const type = typeOf(answer.status, textOf(error['type']));
  const isAnswer = namedLimit(refused, Infinity)?.isOfModel === true;
  const code = !isAnswer && isTooLong(refused.code, message) ? 'context_length_exceeded' : refused.code;
  const status = code === 'context_length_exceeded' && refused.status < 429 ? 400 : refused.status;
  return outOfCredit(
    changedError(refused, { code, message, type: status === 400 ? 'invalid_request_error' : type, status }),
    answer,
  );
}

/** Message of an error; a router's own one followed by that of the provider. */
function messageOf({ message, metadata }: Fields, words: string): string {
  const { raw } = fieldsOf(metadata);
  return typeof raw === 'string' && textOf(message) !== '' ? `${words}: ${raw.slice(0, 1000)}` : words;
}

/** True for too long a prompt, which has one code for all servers, by which `fallback` routes. */
function isTooLong(code: string, message: string): boolean {
  return tooLong.test(code) || tooLong.test(message.slice(0, 1000));
}

const tooLong =
  /context[ _](?:length|window|size)|prompt is too long|maximum prompt length|input token count.{0,40}exceeds|`inputs` tokens \+ `max_new_tokens` must be/i;

/** Type that the Messages API has for a status; the server's own if it is more specific and Messages has it, too. */
function typeOf(status: number, own: string): string {
  const ofStatus = errorType(status);
  return messagesTypes.has(own) && !sayMore.has(ofStatus) ? own : ofStatus;
}

/**
 * Types by status for errors that other servers call `invalid_request_error`, which clients do not expect with a 403 or
 * 404.
 */
const sayMore: ReadonlySet<string> = new Set([
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
]);

/**
 * Error types that Messages has, too, and that fit more than one status; others are no more specific than the status.
 */
const messagesTypes: ReadonlySet<string> = new Set([...sayMore, 'overloaded_error', 'api_error']);

/** Error of an account without credit, whose slot has a longer cooldown than one with too many requests. */
function outOfCredit(error: GatewayError, { status, headers }: AnswerHead): GatewayError {
  const isTooFast = status !== 429 || error.code !== 'insufficient_quota';
  if (isTooFast || headers['retry-after'] !== undefined) return error;
  const waiting = { ...headers, 'retry-after': String(quotaSeconds) };
  return changedError(error, { failure: { kind: 'status', status, headers: waiting } });
}

/** Time after which an account without credit is tried again. */
const quotaSeconds = 3600;
