import { GatewayError, timeoutSignal, type ErrorCode } from '@gw2api/gateway/plugin';
import { isHeaderValue, jsonFields, type AccountHost } from '@gw2api/gateway/plugin/upstream';

type Asking = Pick<AccountHost, 'slot' | 'connect' | 'now' | 'clock'>;

interface TokenRequest {
  readonly tokenUrl: string;
  /** Fields of the request, `grant_type` among them. */
  readonly form: Readonly<Record<string, string>>;
  /** Advice to the operator about a refusal of the endpoint, from the fields of its answer. */
  readonly cure: (answer: Readonly<Record<string, unknown>>) => string;
}

/** Access token as an endpoint has granted it. */
export interface GrantedToken {
  readonly accessToken: string;
  /** Absent: the endpoint has not given a new one. */
  readonly refreshToken?: string;
  readonly expiresAtMs?: number;
}

/**
 * Asks a token endpoint (RFC 6749 §5). Throws `no_slot_available` with failure status 401 if the token
 * endpoint refuses it, `upstream_unreachable` if it cannot be reached or fails, `upstream_invalid_response`
 * if its answer has no token that a header can hold.
 */
export async function requestToken(asked: TokenRequest, host: Asking): Promise<GrantedToken> {
  const { id } = host.slot;
  const answer = await post(asked, host);
  if (refusals.has(answer.status)) throw refused(id, answer, asked);
  const granted = answer.status === 200 ? readGrant(answer, host.now()) : undefined;
  if (granted) return granted;
  const code = answer.status >= 500 ? 'upstream_unreachable' : 'upstream_invalid_response';
  throw unavailable(code, id, `its token endpoint answered ${answer.status} without a usable token`);
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Posts over a connection of its own: a token endpoint is asked too rarely to keep one open. */
async function post(asked: TokenRequest, host: Asking): Promise<Answer> {
  try {
    const http = host.connect(asked.tokenUrl);
    try {
      const { pathname, search } = new URL(asked.tokenUrl);
      const request = {
        path: `${pathname}${search}`,
        headers: { accept: 'application/json' },
        contentType: 'application/x-www-form-urlencoded',
        body: new URLSearchParams(asked.form).toString(),
      };
      const signal = timeoutSignal(host.clock, timeoutMs);
      const answer = await http.send(request, { signal });
      return { status: answer.status, text: await answer.text(maxAnswerBytes) };
    } finally {
      void http.close();
    }
  } catch (cause) {
    const why = 'its token endpoint could not be reached';
    throw unavailable('upstream_unreachable', host.slot.id, why, cause);
  }
}

/** Reads `access_token`, `refresh_token` if it was rotated, and `expires_in` in seconds if present. */
function readGrant({ text }: Answer, nowMs: number): GrantedToken | undefined {
  const { access_token, refresh_token, expires_in } = jsonFields(text);
  const accessToken = typeof access_token === 'string' ? access_token.trim() : '';
  if (accessToken === '' || !isHeaderValue(accessToken)) return undefined;
  return {
    accessToken,
    ...(typeof refresh_token === 'string' && { refreshToken: refresh_token }),
    ...(typeof expires_in === 'number' ? { expiresAtMs: nowMs + expires_in * 1000 } : {}),
  };
}

/** Error of a refused request, which needs the operator. */
function refused(slotId: string, { status, text }: Answer, { cure }: TokenRequest): GatewayError {
  const fields = jsonFields(text);
  const { error: named } = fields;
  const why = typeof named === 'string' && /^[\w-]{1,40}$/.test(named) ? named : `status ${status}`;
  return withoutToken(slotId, why, cure(fields));
}

/** Error of a slot that gets no token until its operator acts (401). */
export function withoutToken(slotId: string, why: string, cure: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'no_slot_available',
    `Slot "${slotId}" cannot renew its access token (${why}); ${cure}.`,
    { failure: { kind: 'status', status: 401, headers: {} }, cause },
  );
}

/** Error of a failed refresh: the slot cools down, so that not every request calls its token endpoint. */
export function unavailable(code: ErrorCode, slotId: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError(code, `Slot "${slotId}" cannot renew its access token: ${why}.`, {
    callersMessage: "The gateway's account at its provider is not ready.",
    failure: { kind: 'unreachable', reused: false },
    cause,
  });
}

/** Statuses of a token endpoint for an unknown grant or client. */
const refusals = new Set([400, 401, 403]);

const timeoutMs = 30_000;
const maxAnswerBytes = 256 * 1024;
