import { isRead, masterActor, passwordActor } from './actor.js';
import type { Caller, PanelContext } from './route.js';
import { timingSafeEqual } from 'node:crypto';
import {
  callerKey,
  GatewayError,
  isGatewayError,
  requireMasterKey,
  type ConsoleSession,
} from '../../plugin/internal.js';
import { LoginGuard } from './login-guard.js';
import type { Panel } from './panel.js';
import { newToken, SessionTokens, sha256 } from './session-tokens.js';

/**
 * Console sessions: a random token in a cookie, stored as a hash, and a second token against cross-site
 * request forgery.
 */
export class Sessions {
  readonly #panel: Panel;
  readonly #guard: LoginGuard;
  readonly #password: Buffer;
  readonly #tokens: SessionTokens;

  constructor(panel: Panel) {
    this.#panel = panel;
    this.#password = sha256(panel.password);
    this.#tokens = new SessionTokens(panel.password);
    this.#guard = new LoginGuard({ meters: panel.meters, secret: this.#password });
  }

  /**
   * Rate limit of logins, checked before the body is read. Throws `rate_limited` if the address must wait.
   */
  admit({ ip }: PanelContext): Promise<void> {
    return this.#guard.enter(ip);
  }

  /** Creates a session, replacing the caller's current one. Throws `wrong_password` and `rate_limited`. */
  async logIn(ctx: PanelContext, password: string): Promise<{ expiresAtMs: number; csrfToken: string }> {
    const takeBack = await this.#guard.try(ctx.ip);
    const isRight = timingSafeEqual(sha256(password), this.#password) && this.#panel.password !== '';
    if (!isRight) {
      ctx.state.log.warn({ address: ctx.ip }, 'A login to the console had a wrong password.');
      throw new GatewayError('wrong_password', 'That is not the password of this console.');
    }
    await takeBack();
    await this.#forget(ctx);
    const [token, csrfToken] = [this.#tokens.make(passwordActor.kind), newToken()];
    const createdAtMs = this.#panel.now();
    const expiresAtMs = createdAtMs + lifetimeSeconds * 1000;
    const csrfHash = sha256(csrfToken).toString('hex');
    await this.#panel.store.sessions.put({
      tokenHash: this.#tokens.hash(token),
      csrfHash,
      actor: passwordActor,
      createdAtMs,
      expiresAtMs,
    });
    ctx.state.actor = passwordActor;
    setCookies(ctx, { token, csrfToken, maxAgeSeconds: lifetimeSeconds });
    return { expiresAtMs, csrfToken };
  }

  async logOut(ctx: PanelContext): Promise<void> {
    await this.#forget(ctx);
    setCookies(ctx, { token: '', csrfToken: '', maxAgeSeconds: 0 });
  }

  /**
   * Authenticates a caller; a change by a session needs its CSRF token. Throws 401, 403 (contract §5) and
   * `store_unavailable`.
   */
  async authenticate(ctx: PanelContext): Promise<Caller> {
    const caller = await this.#callerOf(ctx);
    ctx.state.actor = caller.actor;
    return caller;
  }

  async #callerOf(ctx: PanelContext): Promise<Caller> {
    const token = ctx.cookies.get(sessionCookie) || undefined;
    const key = keyOf(ctx, token === undefined);
    if (key !== undefined) return this.#checkKey(key);
    const session = await this.#find(token ?? '');
    if (!session)
      throw new GatewayError('invalid_session', 'This session has expired or was ended; log in again.');
    if (!isRead(ctx.method)) requireCsrfToken(ctx, session);
    return { actor: session.actor, session };
  }

  /** False once the session of a caller has ended; the master key has none. */
  async isStillGood(session: ConsoleSession | undefined): Promise<boolean> {
    return !session || (await this.#panel.store.sessions.get(session.tokenHash)) !== undefined;
  }

  async #checkKey(key: string): Promise<Caller> {
    await requireMasterKey(key, this.#panel.keys, 'the panel');
    return { actor: masterActor, session: undefined };
  }

  async #find(token: string): Promise<ConsoleSession | undefined> {
    try {
      return await this.#panel.store.sessions.get(this.#tokens.hash(token));
    } catch (cause) {
      const message = 'The session cannot be checked at the moment; try again.';
      const headers = { 'retry-after': '1' };
      throw new GatewayError('store_unavailable', message, { headers, cause });
    }
  }

  async #forget(ctx: PanelContext): Promise<void> {
    const token = ctx.cookies.get(sessionCookie) || undefined;
    if (token) await this.#panel.store.sessions.delete(this.#tokens.hash(token));
  }
}

const sessionCookie = 'gw_session';
const csrfCookie = 'gw_csrf';
const lifetimeSeconds = 12 * 3600;

/**
 * The API key in the headers; undefined if there is none and a session is enough. Throws `missing_api_key`.
 */
function keyOf(ctx: PanelContext, isRequired: boolean): string | undefined {
  try {
    return callerKey(ctx.headers);
  } catch (error) {
    if (!isRequired && isGatewayError(error)) return undefined;
    throw error;
  }
}

/** Throws `forbidden` unless the header equals the cookie and matches the CSRF token of the session. */
function requireCsrfToken(ctx: PanelContext, { csrfHash }: ConsoleSession): void {
  const sent = ctx.get('x-csrf-token');
  const isSame = timingSafeEqual(sha256(sent), sha256(ctx.cookies.get(csrfCookie) ?? ''));
  if (isSame && timingSafeEqual(sha256(sent), Buffer.from(csrfHash, 'hex'))) return;
  throw new GatewayError(
    'forbidden',
    'A change by a session needs the header x-csrf-token with what the cookie gw_csrf says.',
  );
}

interface Cookies {
  readonly token: string;
  readonly csrfToken: string;
  readonly maxAgeSeconds: number;
}

/** Not by `ctx.cookies.set`, which writes Expires, by the browser's clock, and no Max-Age. */
function setCookies(ctx: PanelContext, { token, csrfToken, maxAgeSeconds }: Cookies): void {
  const common = `Path=/; Max-Age=${maxAgeSeconds}; SameSite=Strict${ctx.secure ? '; Secure' : ''}`;
  ctx.append('set-cookie', `${sessionCookie}=${token}; HttpOnly; ${common}`);
  ctx.append('set-cookie', `${csrfCookie}=${csrfToken}; ${common}`);
}
