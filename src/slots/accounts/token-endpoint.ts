import type { Dispatcher } from 'undici';
import type { AddressGuard } from '../../network/address-guard.js';
import { wholeUndici } from '../../network/undici.js';
import { GatewayError, isHeaderValue, type ErrorCode, type OAuthTokens } from '../../plugin/index.js';

export interface TokenRequest {
  readonly slotId: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly refreshToken: string;
  /** Proxy of the slot. */
  readonly proxy: string | undefined;
  /** Guard that checks the address before a connection. */
  readonly guard?: AddressGuard | undefined;
  readonly nowMs: number;
}

/**
 * Exchanges a refresh token (RFC 6749 §6). Throws `no_slot_available` with failure status 401 if the token
 * endpoint refuses it, `upstream_unreachable` if it cannot be reached or fails, `upstream_invalid_response`
 * if its answer has no token that a header can hold.
 */
export async function requestTokens(asked: TokenRequest): Promise<Tokens> {
  const answer = await post(asked);
  if (refusals.has(answer.status)) throw refused(asked.slotId, answer);
  const granted = answer.status === 200 ? readGrant(answer, asked) : undefined;
  if (granted) return granted;
  const code = answer.status >= 500 ? 'upstream_unreachable' : 'upstream_invalid_response';
  throw unavailable(
    code,
    asked.slotId,
    `its token endpoint answered ${answer.status} without a usable token`,
  );
}

type Tokens = Omit<OAuthTokens, 'origin'>;

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function post(asked: TokenRequest): Promise<Answer> {
  const { request } = wholeUndici();
  let dispatcher: Dispatcher | undefined;
  try {
    dispatcher = dispatcherFor(asked);
    const { statusCode, body } = await request(asked.tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: form(asked).toString(),
      signal: AbortSignal.timeout(timeoutMs),
      ...(dispatcher ? { dispatcher } : {}),
    });
    return { status: statusCode, text: await beginningOf(body) };
  } catch (cause) {
    throw unavailable('upstream_unreachable', asked.slotId, 'its token endpoint could not be reached', cause);
  } finally {
    await dispatcher?.close();
  }
}

/** Connection for the token request; undefined: the default one. Throws if the guard refuses the address. */
function dispatcherFor({ proxy, guard, tokenUrl }: TokenRequest): Dispatcher | undefined {
  const { Agent, Pool, ProxyAgent } = wholeUndici();
  const connect = guard?.connector({ timeout: timeoutMs });
  if (!proxy) return connect && new Agent({ connect });
  guard?.check(new URL(tokenUrl).hostname);
  return new ProxyAgent({
    uri: proxy,
    clientFactory: (origin, options) => new Pool(origin, { ...options, ...(connect && { connect }) }),
  });
}

/** Reads a body up to `maxAnswerBytes`, more than any grant needs; leaving the loop ends the body. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxAnswerBytes) break;
  }
  return Buffer.concat(chunks).toString();
}

function form({ clientId, clientSecret, refreshToken }: TokenRequest): URLSearchParams {
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
  return new URLSearchParams(clientSecret ? { ...fields, client_secret: clientSecret } : fields);
}

/** Reads `access_token`, `refresh_token` if it was rotated, and `expires_in` in seconds if present. */
function readGrant({ text }: Answer, asked: TokenRequest): Tokens | undefined {
  const { access_token, refresh_token, expires_in } = parse(text);
  const accessToken = typeof access_token === 'string' ? access_token.trim() : '';
  if (accessToken === '' || !isHeaderValue(accessToken)) return undefined;
  return {
    accessToken,
    refreshToken: typeof refresh_token === 'string' ? refresh_token : asked.refreshToken,
    ...(typeof expires_in === 'number' ? { expiresAtMs: asked.nowMs + expires_in * 1000 } : {}),
  };
}

/** Fields of the answer; none if it is not a JSON object. */
function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(JSON.parse(text) as object | null) }; // anything else than an object spreads to one
  } catch {
    return {}; // not a grant, whatever it is
  }
}

/** Error of a refused refresh (401): the operator has to sign in again. */
function refused(slotId: string, { status, text }: Answer): GatewayError {
  const { error: named } = parse(text);
  const why = typeof named === 'string' && /^[\w-]{1,40}$/.test(named) ? named : `status ${status}`;
  return new GatewayError(
    'no_slot_available',
    `Slot "${slotId}" cannot renew its access token (${why}); sign its account in again and put the new tokens into the config.`,
    { failure: { kind: 'status', status: 401, headers: {} } },
  );
}

/** Error of a failed refresh: the slot cools down, so that not every request calls its token endpoint. */
function unavailable(code: ErrorCode, slotId: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError(code, `Slot "${slotId}" cannot renew its access token: ${why}.`, {
    failure: { kind: 'unreachable', reused: false },
    cause,
  });
}

/** Statuses of a token endpoint for an unknown grant or client. */
const refusals = new Set([400, 401, 403]);

const timeoutMs = 30_000;
const maxAnswerBytes = 256 * 1024;
