import { createHash } from 'node:crypto';
import { timeoutSignal } from '@gw2api/gateway/plugin';
import {
  untilAborted,
  type Account,
  type AccountHost,
  type Credential,
  type OAuthTokens,
  type OutgoingRequest,
  type TokenStore,
} from '@gw2api/gateway/plugin/upstream';

/** Grants new tokens instead of the old ones, if there are any. */
type Grant = (old: OAuthTokens | undefined, store: TokenStore) => Promise<Omit<OAuthTokens, 'origin'>>;

interface TokenTerms {
  /** Digest of the options that the tokens derive from: other ones start over. */
  readonly origin: string;
  /** Tokens of the config, for the time until others are in the store. */
  readonly first?: Omit<OAuthTokens, 'origin'>;
  /** True if tokens may be granted by any process at any time; false: each refresh revokes those before it. */
  readonly isRepeatable: boolean;
  readonly grant: Grant;
  /** Finds the inputs of grants, before the first request. */
  readonly start?: () => void | Promise<void>;
  /** Further headers of each request. */
  readonly headers?: Credential;
}

/**
 * Account with an expiring access token. One refresh runs at a time across all instances; the others use the
 * tokens that it has put into the store.
 */
export class TokenAccount implements Account {
  readonly #terms: TokenTerms;
  readonly #host: AccountHost;
  readonly #store: TokenStore;
  #tokens: OAuthTokens | undefined;
  #refreshing: Promise<void> | undefined;
  #failedAtMs = -Infinity;

  private constructor(terms: TokenTerms, host: AccountHost, store: TokenStore, tokens?: OAuthTokens) {
    this.#terms = terms;
    this.#host = host;
    this.#store = store;
    this.#tokens = tokens;
  }

  /** Opens the account; uses the stored tokens if they descend from the same options. */
  static async open(terms: TokenTerms, host: AccountHost): Promise<TokenAccount> {
    const { origin, first, isRepeatable } = terms;
    const [store, stored] = await host.tokens(origin, { isRepeatable });
    return new TokenAccount(terms, host, store, stored ?? (first && { ...first, origin }));
  }

  async start(): Promise<void> {
    await this.#terms.start?.();
  }

  async authorize({ signal }: Pick<OutgoingRequest, 'signal'>): Promise<Credential> {
    if (this.#store.hasUpdate) await untilAborted(this.#loadUpdate(), signal);
    if (this.#isDue()) await untilAborted(this.#refreshEarly(), signal);
    return { ...this.#terms.headers, authorization: this.#bearer };
  }

  /** Renews the credential. Throws the errors of the grant. */
  async refresh(refused: Credential, signal: OutgoingRequest['signal']): Promise<boolean> {
    const wasRefreshedMeanwhile = refused['authorization'] !== this.#bearer;
    if (!wasRefreshedMeanwhile) await untilAborted(this.#refresh(), signal);
    return true;
  }

  /** Gets a token unless there is one that stays valid for longer. */
  async probe(): Promise<void> {
    await this.authorize({ signal: timeoutSignal(this.#host.clock, probeTimeoutMs) });
  }

  get #bearer(): string {
    return `Bearer ${this.#tokens?.accessToken ?? ''}`;
  }

  /** Unix milliseconds; always in the past without tokens. */
  get #expiresAtMs(): number {
    return this.#tokens ? (this.#tokens.expiresAtMs ?? Infinity) : -Infinity;
  }

  #isDue(): boolean {
    const nowMs = this.#host.now();
    if (nowMs >= this.#expiresAtMs) return true;
    return nowMs >= this.#expiresAtMs - marginMs && nowMs >= this.#failedAtMs + pauseAfterFailureMs;
  }

  /** Refreshes a token before it expires; if that fails, the old token is used until then. */
  async #refreshEarly(): Promise<void> {
    try {
      await this.#refresh();
    } catch (error) {
      if (this.#host.now() >= this.#expiresAtMs) throw error;
      this.#host.log.warn({ err: error }, 'The access token could not be refreshed before it expires.');
    }
  }

  #refresh(): Promise<void> {
    const old = this.#tokens?.accessToken;
    this.#refreshing ??= this.#host
      .withLock(() => this.#replaceTokens(old))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #replaceTokens(old: string | undefined): Promise<void> {
    await this.#loadUpdate();
    if (this.#tokens?.accessToken !== old && !this.#isDue()) return; // another instance has refreshed them
    const { log, now } = this.#host;
    const { grant, origin } = this.#terms;
    try {
      this.#tokens = { ...(await grant(this.#tokens, this.#store)), origin };
    } catch (error) {
      this.#failedAtMs = now();
      throw error;
    }
    log.info({ expiresAtMs: this.#tokens.expiresAtMs }, 'The access token was refreshed.');
    await this.#store.put(this.#tokens);
  }

  async #loadUpdate(): Promise<void> {
    this.#tokens = (await this.#store.read()) ?? this.#tokens;
  }
}

const probeTimeoutMs = 30_000;

/** Time before expiry at which a token is refreshed. */
const marginMs = 60_000;

/** Pause after a failed early refresh, while the old token is valid. */
const pauseAfterFailureMs = 10_000;

/** Digest of a secret, which identifies its tokens. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
