import { isRead, masterActor, passwordActor } from './actor.js';
import type { Caller, OperatorContext } from '../route.js';
import { timingSafeEqual } from 'node:crypto';
import { callerKey, GatewayError, isGatewayError } from '../../plugin/index.js';
import { isSamePerson } from '../../state/store/contract/same-person.js';
import { requireMasterKey } from './admin-caller.js';
import type { ConsoleSession, Subject } from '../../state/store/contract/store.js';
import type { Actor } from '../../state/store/contract/actor.js';
import { LoginGuard } from './login-guard.js';
import type { Gateway } from '../../gateway/gateway.js';
import { csrfCookie, readCookie, sessionCookie, setSessionCookies } from './cookies.js';
import type { Config } from '../../config/config.js';
import { basePathOf, isAtHttps } from '../../config/public-url.js';
import { newToken, SessionTokens, sha256 } from './session-tokens.js';

interface BegunSession {
  readonly expiresAtMs: number;
  readonly csrfToken: string;
}

interface BeginOptions {
  readonly lastsMs?: number;
  /** True for a console that browsers reach by https. */
  readonly isSecure?: boolean;
  /** Person of an OpenID provider, whose other sessions of another role end. */
  readonly subject?: Subject;
}

/**
 * Console sessions: a random token in a cookie, stored as a hash, and a second token against cross-site
 * request forgery.
 */
export class Sessions {
  readonly #gateway: Gateway;
  readonly #guard: LoginGuard;
  readonly #password: Buffer;
  readonly #tokens: SessionTokens;
  readonly #listeners: (() => void)[] = [];

  constructor(gateway: Gateway) {
    const { live } = gateway.services;
    this.#gateway = gateway;
    this.#password = sha256(gateway.panelPassword);
    this.#tokens = new SessionTokens(gateway.panelPassword);
    this.#guard = new LoginGuard({ meters: live.meters, secret: this.#password });
    live.messages.receive(topic, () => this.#callListeners());
  }

  /** Calls `listener` after sessions have ended, on any instance. */
  onEnded(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Rate limit of logins, checked before the body is read. Throws `rate_limited` if the address must wait.
   */
  admit({ ip }: OperatorContext): Promise<void> {
    return this.#guard.enter(ip);
  }

  /** Counts a login of this address as wrong until the returned function undoes that. Throws `rate_limited`. */
  attempt({ ip }: OperatorContext): Promise<() => Promise<void>> {
    return this.#guard.try(ip);
  }

  /** Creates a session by password. Throws `wrong_password`, `rate_limited`, and `forbidden` without passwords. */
  async logIn(ctx: OperatorContext, password: string): Promise<BegunSession> {
    if (!this.#allows(passwordActor.kind))
      throw new GatewayError(
        'forbidden',
        'This console does not accept passwords; sign in with the OpenID provider.',
      );
    const takeBack = await this.attempt(ctx);
    const isRight = timingSafeEqual(sha256(password), this.#password) && this.#gateway.panelPassword !== '';
    if (!isRight) {
      ctx.state.log.warn({ address: ctx.ip }, 'A login to the console used a wrong password.');
      throw new GatewayError('wrong_password', 'That is not the password of this console.');
    }
    await takeBack();
    return this.begin(ctx, passwordActor, {});
  }

  /** Creates a session, replacing the caller's current one. */
  async begin(
    ctx: OperatorContext,
    actor: Actor,
    { lastsMs = lifetimeMs, isSecure = this.#isSecure(ctx), subject }: BeginOptions,
  ): Promise<BegunSession> {
    await this.#forget(ctx);
    const [token, csrfToken] = [this.#tokens.make(actor.kind), newToken()];
    const createdAtMs = this.#gateway.services.now();
    const expiresAtMs = createdAtMs + lastsMs;
    const ended = await this.#gateway.services.store.sessions.put({
      tokenHash: this.#tokens.hash(token),
      csrfHash: sha256(csrfToken).toString('hex'),
      actor,
      ...(subject && { subject }),
      createdAtMs,
      expiresAtMs,
      address: plainLine(ctx.ip, 64),
      userAgent: plainLine(ctx.get('user-agent'), 256),
    });
    if (ended > 0) this.#tellEnded();
    ctx.state.actor = actor;
    const maxAgeSeconds = Math.ceil(lastsMs / 1000);
    setSessionCookies(ctx, { token, csrfToken, maxAgeSeconds, isSecure, path: this.#cookiePath });
    return { expiresAtMs, csrfToken };
  }

  /** Ends the sessions of a person at once, on all instances. */
  async endOf(subject: Subject): Promise<number> {
    const all = await this.#gateway.services.store.sessions.list();
    const ended = all.filter((each) => isSamePerson(each.subject, subject));
    await this.end(ended);
    return ended.length;
  }

  /** Ends sessions at once, on all instances. */
  async end(sessions: readonly ConsoleSession[]): Promise<void> {
    for (const { tokenHash } of sessions) await this.#gateway.services.store.sessions.delete(tokenHash);
    if (sessions.length > 0) this.#tellEnded();
  }

  async logOut(ctx: OperatorContext): Promise<void> {
    await this.#forget(ctx);
    setSessionCookies(ctx, { token: '', csrfToken: '', maxAgeSeconds: 0, ...this.#placeOf(ctx) });
  }

  /** Notifies all instances; messages go to the others only. */
  #tellEnded(): void {
    this.#gateway.services.live.messages.send(topic, null);
    this.#callListeners();
  }

  #callListeners(): void {
    for (const listener of this.#listeners) listener();
  }

  get #settings(): Config['panel'] {
    return this.#gateway.runtime.config.panel;
  }

  /** True for a browser that uses https, also if the last proxy is not trusted to report it. */
  #isSecure(ctx: OperatorContext): boolean {
    return ctx.secure || isAtHttps(this.#settings.publicUrl, ctx.get('host'));
  }

  get #cookiePath(): string {
    return basePathOf(this.#settings.publicUrl) || '/';
  }

  #placeOf(ctx: OperatorContext) {
    return { path: this.#cookiePath, isSecure: this.#isSecure(ctx) };
  }

  /**
   * True for a valid session: of an enabled kind of login, within its lifetime and its idle timeout as configured.
   */
  isGood({ actor, createdAtMs, expiresAtMs, lastSeenAtMs = createdAtMs }: ConsoleSession): boolean {
    const { oidc, sessionIdleMs = Infinity } = this.#settings;
    const lastsMs = actor.kind === 'oidc' ? (oidc?.sessionMs ?? 0) : lifetimeMs;
    const endsAtMs = Math.min(expiresAtMs, createdAtMs + lastsMs, lastSeenAtMs + sessionIdleMs);
    return this.#allows(actor.kind) && endsAtMs > this.#gateway.services.now();
  }

  #allows(kind: Actor['kind']): boolean {
    const { oidc } = this.#settings;
    return kind === 'oidc' ? oidc !== undefined : oidc?.only !== true;
  }

  /** Authenticates a caller; a change by a session needs its CSRF token. Throws 401, 403 and `store_unavailable`. */
  async authenticate(ctx: OperatorContext): Promise<Caller> {
    const caller = await this.#callerOf(ctx);
    ctx.state.actor = caller.actor;
    return caller;
  }

  async #callerOf(ctx: OperatorContext): Promise<Caller> {
    const place = this.#placeOf(ctx);
    const token = readCookie(ctx, sessionCookie, place);
    const key = keyOf(ctx, token === undefined);
    if (key !== undefined) return this.#checkKey(ctx, key);
    const session = await this.#find(token ?? '');
    if (!session || !this.isGood(session))
      throw new GatewayError('invalid_session', 'This session has expired or was ended; log in again.');
    ctx.state.actor = session.actor;
    if (!isRead(ctx.method)) requireCsrfToken(ctx, readCookie(ctx, csrfCookie, place), session);
    if (ctx.get(unattendedHeader) === '') this.#seen(session);
    return { actor: session.actor, session };
  }

  /** False once the session of a caller has ended; the master key has none. */
  async isStillGood(session: ConsoleSession | undefined): Promise<boolean> {
    if (!session) return true;
    const found = await this.#gateway.services.store.sessions.get(session.tokenHash);
    return found !== undefined && this.isGood(found);
  }

  /** Records the time of a request, at most once a minute; a request does not wait for it. */
  #seen({ tokenHash, lastSeenAtMs = 0 }: ConsoleSession): void {
    const { store, log, now } = this.#gateway.services;
    const { sessionIdleMs = Infinity } = this.#settings;
    if (now() - lastSeenAtMs < Math.min(seenEveryMs, sessionIdleMs / 10)) return;
    store.sessions.touch(tokenHash, now()).catch((error: unknown) => {
      log.debug({ err: error }, 'The last request time of a session could not be stored.');
    });
  }

  async #checkKey(ctx: OperatorContext, key: string): Promise<Caller> {
    const token = await this.#gateway.services.adminTokens.check(key);
    if (token) {
      ctx.state.actor = { kind: 'token', name: token.name, role: 'viewer' };
      throw new GatewayError('forbidden', 'An admin token may call /admin/* and /metrics only.');
    }
    await requireMasterKey(key, this.#gateway.services.keys, 'the panel');
    return { actor: masterActor, session: undefined };
  }

  async #find(token: string): Promise<ConsoleSession | undefined> {
    try {
      return await this.#gateway.services.store.sessions.get(this.#tokens.hash(token));
    } catch (cause) {
      const message = 'The session cannot be checked right now; try again.';
      const headers = { 'retry-after': '1' };
      throw new GatewayError('store_unavailable', message, { headers, cause });
    }
  }

  async #forget(ctx: OperatorContext): Promise<void> {
    const token = readCookie(ctx, sessionCookie, this.#placeOf(ctx));
    if (token && (await this.#gateway.services.store.sessions.delete(this.#tokens.hash(token))))
      this.#tellEnded();
  }
}

const topic = 'sessions';
const lifetimeMs = 12 * 3_600_000;
/** Max age of the stored time of the last request. */
const seenEveryMs = 60_000;

/** Header of a request that a page makes automatically, without a user: it does not keep a session from its timeout. */
const unattendedHeader = 'x-gw-unattended';

/**
 * The API key in the headers; undefined if there is none and a session is enough. Throws `missing_api_key`.
 */
function keyOf(ctx: OperatorContext, isRequired: boolean): string | undefined {
  try {
    return callerKey(ctx.headers);
  } catch (error) {
    if (!isRequired && isGatewayError(error)) return undefined;
    throw error;
  }
}

/** Throws `forbidden` unless the header equals the cookie and matches the CSRF token of the session. */
function requireCsrfToken(ctx: OperatorContext, cookie = '', { csrfHash }: ConsoleSession): void {
  const sent = ctx.get('x-csrf-token');
  const isSame = timingSafeEqual(sha256(sent), sha256(cookie));
  if (isSame && timingSafeEqual(sha256(sent), Buffer.from(csrfHash, 'hex'))) return;
  throw new GatewayError('forbidden', 'Changes by a session need the cookie gw_csrf as header x-csrf-token.');
}

/** Text of a header as one line of bounded length. */
function plainLine(text: string, maxLength: number): string {
  return text.replaceAll(/\p{Cc}/gu, ' ').slice(0, maxLength);
}
