import { GatewayError } from '@gw2api/gateway/plugin';
import { jsonFields, refusal, type HttpAnswer } from '@gw2api/gateway/plugin/upstream';
import { typeOfException } from './exceptions.js';

type Head = Pick<HttpAnswer, 'status' | 'headers'>;

/**
 * Error of a refused call: its code is the name of the exception, its status the equivalent one of the Messages API, so
 * that the slot's cooldown and the caller's retries follow the exception.
 */
export function bedrockRefusal(answer: Head, body: string): GatewayError {
  const base = refusal(answer, body);
  const { Message: capital } = jsonFields(body);
  const message = typeof capital === 'string' && capital !== '' ? capital : base.message;
  const name = exceptionOf(answer, body);
  const type = (isKeyRefusal(answer, message) ? 'authentication_error' : typeOfException(name)) ?? base.type;
  const status = (Object.hasOwn(statuses, type) ? statuses[type] : undefined) ?? answer.status;
  const id = answer.headers['x-amzn-requestid'];
  return new GatewayError(name === '' ? base.code : name, message, {
    status,
    type,
    headers: id === undefined ? base.headers : { ...base.headers, 'request-id': id },
    failure: { kind: 'status', status, headers: answer.headers },
    cause: base,
  });
}

/** True for an error after the credential has been accepted. */
export function isAuthenticated(answer: Head, body: string): boolean {
  const { type } = bedrockRefusal(answer, body);
  return typeOfException(exceptionOf(answer, body)) !== undefined && answeredTypes.has(type);
}

const answeredTypes = new Set([
  'invalid_request_error',
  'not_found_error',
  'permission_error',
  'rate_limit_error',
]);

/** Name of the exception, from its header `Name:URL` or from the body's `namespace#Name`; empty if there is none. */
function exceptionOf({ headers }: Head, body: string): string {
  const { __type: type } = jsonFields(body);
  const named = headers['x-amzn-errortype'] ?? (typeof type === 'string' ? type : '');
  return /(?:^|#)([A-Za-z]{1,80})(?::|$)/.exec(named)?.[1] ?? '';
}

/** True for a refused API key, which Bedrock answers like a missing permission. */
function isKeyRefusal({ status }: Head, message: string): boolean {
  return status === 403 && /\b(api key|bearer token)\b/i.test(message);
}

/** Statuses by type of those exceptions that have another one in HTTP: a failed model 424, one not ready 429. */
const statuses: Readonly<Record<string, number>> = {
  authentication_error: 401,
  rate_limit_error: 429,
  overloaded_error: 503,
  timeout_error: 504,
  api_error: 500,
};
