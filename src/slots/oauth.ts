import { createHash } from 'node:crypto';
import type { Logger, OAuthTokens, Store } from '../plugin/index.js';
import type { AccountConfig } from '../config/config.js';
import type { Account, Credential } from './account.js';
import { untilAborted } from './until-aborted.js';
import { requestTokens } from './token-endpoint.js';

type OAuthConfig = Extract<AccountConfig, { kind: 'oauth' }>;

export interface OAuthOptions {
  readonly slotId: string;
  readonly credentials: Store['credentials'];
  readonly proxy: string | undefined;
  readonly log: Logger;
  readonly now: () => number;
}

/** An account whose access token expires. It refreshes once at a time, however many calls wait for it. */
export class OAuthAccount implements Account {
  readonly kind = 'oauth';
  readonly #config: OAuthConfig;
  readonly #options: OAuthOptions;
  #tokens: OAuthTokens;
  #refreshing: Promise<void> | undefined;
  #failedAtMs = -Infinity;

  private constructor(config: OAuthConfig, options: OAuthOptions, tokens: OAuthTokens) {
    this.#config = config;
    this.#options = options;
    this.#tokens = tokens;
  }

  /** Goes on with the tokens in the store where they descend from the refresh token in the config. */
  static async open(config: OAuthConfig, options: OAuthOptions): Promise<OAuthAccount> {
    const origin = createHash('sha256').update(config.refreshToken).digest('hex');
    const stored = await options.credentials.get(options.slotId);
    return new OAuthAccount(
      config,
      options,
      stored?.origin === origin ? stored : firstTokens(config, origin),
    );
  }

  async credential(signal: AbortSignal): Promise<Credential> {
    if (this.#isDue()) await untilAborted(this.#refreshEarly(), signal);
    return { authorization: `Bearer ${this.#tokens.accessToken}` };
  }

  /** Throws what the refresh throws: see `requestTokens`. */
  async renew(refused: Credential, signal: AbortSignal): Promise<boolean> {
    const wasRefreshedMeanwhile = refused['authorization'] !== `Bearer ${this.#tokens.accessToken}`;
    if (!wasRefreshedMeanwhile) await untilAborted(this.#refresh(), signal);
    return true;
  }

  #isDue(): boolean {
    const { expiresAtMs = Infinity } = this.#tokens;
    const nowMs = this.#options.now();
    if (nowMs >= expiresAtMs) return true;
    return nowMs >= expiresAtMs - marginMs && nowMs >= this.#failedAtMs + pauseAfterFailureMs;
  }

  /** A token that has not expired yet still serves where no new one can be had. */
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
    this.#refreshing ??= this.#replaceTokens().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #replaceTokens(): Promise<void> {
    const { slotId, proxy, now, log } = this.#options;
    try {
      const refreshToken = this.#tokens.refreshToken;
      const granted = await requestTokens({ ...this.#config, slotId, proxy, refreshToken, nowMs: now() });
      this.#tokens = { ...granted, origin: this.#tokens.origin };
    } catch (error) {
      this.#failedAtMs = now();
      throw error;
    }
    log.info({ expiresAtMs: this.#tokens.expiresAtMs }, 'the access token was refreshed');
    await this.#keep();
  }

  /** The tokens serve until the next start even where they cannot be kept. */
  async #keep(): Promise<void> {
    try {
      await this.#options.credentials.put(this.#options.slotId, this.#tokens);
    } catch (error) {
      this.#options.log.error(
        { err: error },
        'the rotated token could not be kept; a restart will not know it',
      );
    }
  }
}

function firstTokens(config: OAuthConfig, origin: string): OAuthTokens {
  const { accessToken, refreshToken, expiresAtMs } = config;
  return { accessToken, refreshToken, origin, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
}

/** How long before its end a token is replaced. */
const marginMs = 60_000;

/** How long a failed early refresh is not tried again while the old token serves. */
const pauseAfterFailureMs = 10_000;
