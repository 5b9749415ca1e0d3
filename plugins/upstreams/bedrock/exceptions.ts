/** Error as in an event of the Messages API. */
export interface EventError {
  readonly type: string;
  /** Name of the exception as the service sent it. */
  readonly code: string;
  readonly message: string;
}

/** Error of an exception, by its name and its payload. */
export function errorOfException(code: string, fields: Readonly<Record<string, unknown>>): EventError {
  const { message, Message, originalMessage } = fields;
  const words = [message, Message, originalMessage].find((text) => typeof text === 'string' && text !== '');
  return {
    type: typeOfException(code) ?? 'api_error',
    code: code === '' ? 'unknown' : code,
    message: typeof words === 'string' ? words : 'The upstream ended its answer without giving a reason.',
  };
}

/** `error.type` of an exception, whose name begins in upper case in HTTP and in lower case in frames. */
export function typeOfException(name: string): string | undefined {
  return types.get(name.toLowerCase().replace(/exception$/, ''));
}

/** Name of the exception for an `error.type`. */
export function exceptionOfType(type: string): string {
  const [name = 'UnrecognizedClient'] = Object.hasOwn(namesOf, type)
    ? namesOf[type as keyof typeof namesOf]
    : [];
  return `${name}Exception`;
}

const namesOf = {
  permission_error: ['AccessDenied'],
  not_found_error: ['ResourceNotFound'],
  invalid_request_error: ['Validation', 'Conflict'],
  rate_limit_error: ['Throttling', 'TooManyRequests', 'ServiceQuotaExceeded'],
  overloaded_error: ['ServiceUnavailable', 'ModelNotReady'],
  timeout_error: ['ModelTimeout'],
  api_error: ['InternalServer', 'InternalFailure', 'ModelError', 'ModelStreamError'],
};

const types = new Map(
  Object.entries(namesOf).flatMap(([type, names]) =>
    names.map((name) => [name.toLowerCase(), type] as const),
  ),
);
