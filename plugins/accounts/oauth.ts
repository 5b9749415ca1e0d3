import { createHash } from 'node:crypto';
import type { Static } from 'typebox';
import { Type } from 'gw2api/plugin';
import {
  defineAccount,
  untilAborted,
  type Account,
  type AccountHost,
  type Credential,
  type OAuthTokens,
  type SchemaError,
  type OutgoingRequest,
  type TokenStore,
} from 'gw2api/plugin/upstream';
import { secretErrors } from './shared/secret-errors.js';
import { requestTokens } from './shared/token-endpoint.js';

const Secret = Type.String({ minLength: 1, secret: true });

const options = Type.Object(
  {
    accessToken: Secret,
    refreshToken: Secret,
    tokenUrl: Type.String({ minLength: 1, title: 'Token URL' }),
    clientId: Type.String({ minLength: 1 }),
    clientSecret: Type.Optional(Secret),
    /** ISO 8601 or unix milliseconds; absent: only a 401 refreshes. */
    expiresAt: Type.Optional(Type.Unsafe<string | number>({ type: ['string', 'number'] })),
  },
  { title: 'OAuth', description: 'For accounts whose provider permits such use.' },
);

type Options = Static<typeof options>;

/** An OAuth account, whose access token expires and is refreshed by RFC 6749 §6. */
export default defineAccount({
  name: 'oauth',
  api: 1,
  options,
  reports: 'windows',
  check,
  open: (settings, host) => OAuthAccount.open(trimmed(settings), host),
});

function check({ accessToken, tokenUrl, expiresAt }: Options): readonly SchemaError[] {
  const protocol = URL.canParse(tokenUrl) ? new URL(tokenUrl).protocol : 'none';
  const isUrl = ['http:', 'https:'].includes(protocol);
  const isTime = expiresAt === undefined || timeMs(expiresAt) !== undefined;
  const time = `must be a time such as 2026-01-01T12:00:00Z, or unix milliseconds, not ${JSON.stringify(expiresAt)}`;
  return [
    ...secretErrors('accessToken', accessToken),
    ...(isUrl ? [] : [{ path: ['tokenUrl'], message: 'must be a URL that begins with http:// or https://' }]),
    ...(isTime ? [] : [{ path: ['expiresAt'], message: time }]),
  ];
}

function trimmed({ accessToken, refreshToken, clientId, clientSecret, ...rest }: Options): Options {
  return {
    ...rest,
    accessToken: accessToken.trim(),
    refreshToken: refreshToken.trim(),
    clientId: clientId.trim(),
    ...(clientSecret !== undefined && { clientSecret: clientSecret.trim() }),
  };
}

/** Unix milliseconds of an ISO time, or of a number in milliseconds. */
function timeMs(time: string | number): number | undefined {
  const ms = /^\d+$/.test(String(time)) ? Number(time) : Date.parse(String(time));
  return Number.isFinite(ms) ? ms : undefined;
}

/**
 * OAuth account with an expiring access token. One refresh runs at a time across all instances; the others
 * use the tokens that it has put into the store.
 */
class OAuthAccount implements Account {
  readonly #config: Options;
  readonly #host: AccountHost;
  readonly #store: TokenStore;
  #tokens: OAuthTokens;
  #refreshing: Promise<void> | undefined;
  #failedAtMs = -Infinity;

  private constructor(config: Options, host: AccountHost, store: TokenStore, tokens: OAuthTokens) {
    this.#config = config;
    this.#host = host;
    this.#store = store;
    this.#tokens = tokens;
  }

  /** Opens the account; uses the stored tokens if they descend from the refresh token in the config. */
  static async open(config: Options, host: AccountHost): Promise<OAuthAccount> {
    const origin = createHash('sha256').update(config.refreshToken).digest('hex');
    const [store, stored] = await host.tokens(origin);
    return new OAuthAccount(config, host, store, stored ?? firstTokens(config, origin));
  }

  async authorize({ signal }: OutgoingRequest): Promise<Credential> {
    if (this.#store.hasUpdate) await untilAborted(this.#loadUpdate(), signal);
    if (this.#isDue()) await untilAborted(this.#refreshEarly(), signal);
    return { authorization: `Bearer ${this.#tokens.accessToken}` };
  }

  /** Renews the credential. Throws the errors of a refresh: see `requestTokens`. */
  async refresh(refused: Credential, signal: OutgoingRequest['signal']): Promise<boolean> {
    const wasRefreshedMeanwhile = refused['authorization'] !== `Bearer ${this.#tokens.accessToken}`;
    if (!wasRefreshedMeanwhile) await untilAborted(this.#refresh(), signal);
    return true;
  }

  #isDue(): boolean {
    const { expiresAtMs = Infinity } = this.#tokens;
    const nowMs = this.#host.now();
    if (nowMs >= expiresAtMs) return true;
    return nowMs >= expiresAtMs - marginMs && nowMs >= this.#failedAtMs + pauseAfterFailureMs;
  }

  /** Refreshes a token before it expires; if that fails, the old token is used until then. */
  async #refreshEarly(): Promise<void> {
    try {
      await this.#refresh();
    } catch (error) {
      const { expiresAtMs = Infinity } = this.#tokens;
      if (this.#host.now() >= expiresAtMs) throw error;
      this.#host.log.warn({ err: error }, 'The access token could not be refreshed before it expires.');
    }
  }

  #refresh(): Promise<void> {
    const old = this.#tokens.accessToken;
    this.#refreshing ??= this.#host
      .withLock(() => this.#replaceTokens(old))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #replaceTokens(old: string): Promise<void> {
    await this.#loadUpdate();
    if (this.#tokens.accessToken !== old) return; // another instance has already refreshed them
    const { log, now } = this.#host;
    try {
      this.#tokens = await this.#exchange(this.#tokens);
    } catch (error) {
      this.#failedAtMs = now();
      throw error;
    }
    log.info({ expiresAtMs: this.#tokens.expiresAtMs }, 'The access token was refreshed.');
    await this.#store.put(this.#tokens);
  }

  async #exchange({ refreshToken, origin }: OAuthTokens): Promise<OAuthTokens> {
    this.#store.use(refreshToken);
    let next = refreshToken;
    try {
      const granted = await requestTokens({ ...this.#config, refreshToken }, this.#host);
      next = granted.refreshToken;
      return { ...granted, origin };
    } finally {
      if (next === refreshToken) this.#store.reuse(refreshToken);
    }
  }

  async #loadUpdate(): Promise<void> {
    this.#tokens = (await this.#store.read()) ?? this.#tokens;
  }
}

function firstTokens(config: Options, origin: string): OAuthTokens {
  const { accessToken, refreshToken, expiresAt } = config;
  const expiresAtMs = expiresAt === undefined ? undefined : timeMs(expiresAt);
  return { accessToken, refreshToken, origin, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
}

/** Time before expiry at which a token is refreshed. */
const marginMs = 60_000;

/** Pause after a failed early refresh, while the old token is valid. */
const pauseAfterFailureMs = 10_000;
