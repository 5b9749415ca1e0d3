/** A panel call that failed: the API's own code and sentence, or ours where it could not be reached (status 0). */
export class PanelError extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterSeconds: number | null;

  constructor(status: number, code: string, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.name = 'PanelError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** What was thrown, as something that can be shown. Aborted calls are not errors to show: give them to nobody. */
export function toPanelError(thrown: unknown): PanelError {
  if (thrown instanceof PanelError) return thrown;
  return new PanelError(0, 'page', thrown instanceof Error ? thrown.message : String(thrown));
}

/** Reads `{"error":{…}}`; an answer that is not ours (a proxy's page) becomes a sentence with its status. */
export async function errorOf(response: Response): Promise<PanelError> {
  const waitSeconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfter = Number.isFinite(waitSeconds) ? waitSeconds : null;
  const body: unknown = await response.json().catch(() => null);
  const { error } = Object(body) as { error?: { code?: unknown; message?: unknown } }; // looked at below
  const code = typeof error?.code === 'string' ? error.code : 'unexpected_answer';
  const message =
    typeof error?.message === 'string'
      ? error.message
      : `The gateway answered with status ${response.status} and nothing that explains it.`;
  return new PanelError(response.status, code, message, retryAfter);
}
