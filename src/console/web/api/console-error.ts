/** A failed call: code and message of the API, or our own with status 0 if it could not be reached. */
export class ConsoleError extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | null;

  constructor(status: number, code: string, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.name = 'ConsoleError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Converts a thrown value to an error that can be shown. Aborted calls are not errors: do not show them. */
export function toConsoleError(thrown: unknown): ConsoleError {
  if (thrown instanceof ConsoleError) return thrown;
  return new ConsoleError(0, 'page', thrown instanceof Error ? thrown.message : String(thrown));
}

/** Reads `{"error":{…}}`; any other answer (a proxy's page) becomes a message with its status. */
export async function errorOf(response: Response): Promise<ConsoleError> {
  const waitSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfter = Number.isFinite(waitSeconds) ? waitSeconds : null;
  const body: unknown = await response.json().catch(() => null);
  const { error } = Object(body) as { error?: { code?: unknown; message?: unknown } }; // checked below
  const code = typeof error?.code === 'string' ? error.code : 'unexpected_answer';
  const message =
    typeof error?.message === 'string'
      ? error.message
      : `The gateway answered with status ${response.status} and no explanation.`;
  return new ConsoleError(response.status, code, message, retryAfter);
}
