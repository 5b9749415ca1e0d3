import type { GatewayError } from '@gw2api/gateway/plugin';
import { jsonFields, refusal, type HttpAnswer } from '@gw2api/gateway/plugin/upstream';

type Fields = Readonly<Record<string, unknown>>;

/** Error of a refused call to a service of Google: `{error}` or `[{error}]` of Google, or that of the Messages API. */
export function googleRefusal(answer: Pick<HttpAnswer, 'status' | 'headers'>, text: string): GatewayError {
  const error = googleError(text);
  if (!error) return refusal(answer, text);
  const { code, message, status: name } = error;
  const type = types[String(name)];
  const status = answer.status >= 400 ? answer.status : Number(code);
  const headers = { ...retryHeader(error['details']), ...answer.headers };
  return refusal({ status, headers }, JSON.stringify({ error: { ...(type && { type }), message } }));
}

/** Error object of Google, which has a numeric code; undefined for other bodies. */
export function googleError(text: string): Fields | undefined {
  const fields = jsonFields(text); // a list is read by its indexes
  const { error } = fieldsOf(fields['error'] === undefined ? fields['0'] : fields);
  const found = fieldsOf(error);
  const { code } = found;
  return typeof code === 'number' && code >= 400 && code < 600 ? found : undefined;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}; // any object may be read by name
}

/** Types of the Messages API by the status names of Google; any other one has that of its HTTP status. */
const types: Fields & Readonly<Record<string, string>> = {
  INVALID_ARGUMENT: 'invalid_request_error',
  FAILED_PRECONDITION: 'invalid_request_error',
  OUT_OF_RANGE: 'invalid_request_error',
  UNAUTHENTICATED: 'authentication_error',
  PERMISSION_DENIED: 'permission_error',
  NOT_FOUND: 'not_found_error',
  RESOURCE_EXHAUSTED: 'rate_limit_error',
  UNAVAILABLE: 'overloaded_error',
  DEADLINE_EXCEEDED: 'timeout_error',
  INTERNAL: 'api_error',
};

/** `retry-after` of the delay that Google states in the details of an error. */
function retryHeader(details: unknown): Readonly<Record<string, string>> {
  const delays = (Array.isArray(details) ? (details as unknown[]) : []).map((each) =>
    secondsOf(fieldsOf(each)['retryDelay']),
  );
  const delay = delays.find((seconds) => seconds !== undefined);
  return delay === undefined ? {} : { 'retry-after': String(Math.ceil(delay)) };
}

/** Seconds of a duration as Google writes it: `6.5s`. */
function secondsOf(duration: unknown): number | undefined {
  const isDuration = typeof duration === 'string' && /^\d{1,6}(\.\d{1,9})?s$/.test(duration);
  return isDuration ? Number.parseFloat(duration) : undefined;
}
