import { createHash } from 'node:crypto';
import type { CallSignal, OAuthTokens } from '../../plugin/index.js';
import type { AccountConfig } from '../../config/config.js';
import type { Account, AccountOptions, Credential } from './account.js';
import { AddressGuard } from '../../network/address-guard.js';
import { TokenStore } from './token-store.js';
import { untilAborted } from '../until-aborted.js';
import { requestTokens } from './token-endpoint.js';

type OAuthConfig = Extract<AccountConfig, { kind: 'oauth' }>;

/**
 * OAuth account with an expiring access token. One refresh runs at a time across all instances; the others
 * use the tokens that it has put into the store.
 */
export class OAuthAccount implements Account {
  readonly kind = 'oauth';
  readonly #config: OAuthConfig;
  readonly #options: AccountOptions;
  readonly #vault: TokenStore;
  #tokens: OAuthTokens;
  #refreshing: Promise<void> | undefined;
  #failedAtMs = -Infinity;

  private constructor(config: OAuthConfig, options: AccountOptions, vault: TokenStore, tokens: OAuthTokens) {
    this.#config = config;
    this.#options = options;
    this.#vault = vault;
    this.#tokens = tokens;
  }

  /** Opens the account; uses the stored tokens if they descend from the refresh token in the config. */
  static async open(config: OAuthConfig, options: AccountOptions): Promise<OAuthAccount> {
    const origin = createHash('sha256').update(config.refreshToken).digest('hex');
    const [vault, stored] = await TokenStore.open(origin, options);
    return new OAuthAccount(config, options, vault, stored ?? firstTokens(config, origin));
  }

  async credential(signal: CallSignal): Promise<Credential> {
    if (this.#vault.hasNews) await untilAborted(this.#takeNews(), signal);
    if (this.#isDue()) await untilAborted(this.#refreshEarly(), signal);
    return { authorization: `Bearer ${this.#tokens.accessToken}` };
  }

  /** Renews the credential. Throws the errors of a refresh: see `requestTokens`. */
  async renew(refused: Credential, signal: CallSignal): Promise<boolean> {
    const wasRefreshedMeanwhile = refused['authorization'] !== `Bearer ${this.#tokens.accessToken}`;
    if (!wasRefreshedMeanwhile) await untilAborted(this.#refresh(), signal);
    return true;
  }

  renewedElsewhere(): void {
    this.#vault.tell();
  }

  #isDue(): boolean {
    const { expiresAtMs = Infinity } = this.#tokens;
    const nowMs = this.#options.now();
    if (nowMs >= expiresAtMs) return true;
    return nowMs >= expiresAtMs - marginMs && nowMs >= this.#failedAtMs + pauseAfterFailureMs;
  }

  /** Refreshes a token before it expires; if that fails, the old token is used until then. */
  async #refreshEarly(): Promise<void> {
    try {
      await this.#refresh();
    } catch (error) {
      const { expiresAtMs = Infinity } = this.#tokens;
      if (this.#options.now() >= expiresAtMs) throw error;
      this.#options.log.warn({ err: error }, 'the access token could not be refreshed before it expires');
    }
  }

  #refresh(): Promise<void> {
    const { live, slotId } = this.#options;
    const old = this.#tokens.accessToken;
    this.#refreshing ??= live
      .exclusively(`oauth/${slotId}`, () => this.#replaceTokens(old))
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #replaceTokens(old: string): Promise<void> {
    await this.#takeNews();
    if (this.#tokens.accessToken !== old) return; // another instance was first
    const { log, now } = this.#options;
    try {
      this.#tokens = await this.#exchange(this.#tokens);
    } catch (error) {
      this.#failedAtMs = now();
      throw error;
    }
    log.info({ expiresAtMs: this.#tokens.expiresAtMs }, 'the access token was refreshed');
    await this.#vault.put(this.#tokens);
  }

  async #exchange({ refreshToken, origin }: OAuthTokens): Promise<OAuthTokens> {
    const { slotId, proxy, isGuarded, now } = this.#options;
    const guard = isGuarded ? new AddressGuard() : undefined;
    this.#vault.use(refreshToken);
    let next = refreshToken;
    try {
      const granted = await requestTokens({
        ...this.#config,
        slotId,
        proxy,
        guard,
        refreshToken,
        nowMs: now(),
      });
      next = granted.refreshToken;
      return { ...granted, origin };
    } finally {
      if (next === refreshToken) this.#vault.reuse(refreshToken);
    }
  }

  async #takeNews(): Promise<void> {
    this.#tokens = (await this.#vault.read()) ?? this.#tokens;
  }
}

function firstTokens(config: OAuthConfig, origin: string): OAuthTokens {
  const { accessToken, refreshToken, expiresAtMs } = config;
  return { accessToken, refreshToken, origin, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
}

/** Time before expiry at which a token is refreshed. */
const marginMs = 60_000;

/** Pause after a failed early refresh, while the old token is valid. */
const pauseAfterFailureMs = 10_000;
