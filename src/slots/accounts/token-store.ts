import { createHash } from 'node:crypto';
import { GatewayError, type OAuthTokens } from '../../plugin/index.js';
import type { AccountOptions } from './account.js';

/** What all instances tell each other when they have put new tokens of a slot into the store. */
export const renewedTopic = 'slots/renewed';

/** Keeps the tokens of one account in the store, where all instances find them. */
export class TokenStore {
  readonly #origin: string;
  readonly #options: AccountOptions;
  /** The origin of the tokens that these take the place of. */
  readonly #replaces: string | undefined;
  /** The origin of those that are in the store, as last read. */
  #originThere: string | undefined;
  #hasBeenTold = false;
  #reading: Promise<OAuthTokens | undefined> | undefined;
  /** What the store has not taken. */
  #unkept: OAuthTokens | undefined;
  #triedAtMs = -Infinity;

  private constructor(origin: string, options: AccountOptions, there: OAuthTokens | undefined) {
    this.#origin = origin;
    this.#options = options;
    this.#originThere = there?.origin;
    this.#replaces = there?.origin;
  }

  /** Gives the tokens in the store where they descend from `origin`, too. Throws what the store throws. */
  static async open(
    origin: string,
    options: AccountOptions,
  ): Promise<readonly [TokenStore, OAuthTokens | undefined]> {
    const there = await options.credentials.get(options.slotId);
    return [new TokenStore(origin, options, there), there?.origin === origin ? there : undefined];
  }

  /** The store is to be read, or to be written once more, before the tokens are used. */
  get hasNews(): boolean {
    if (this.#hasBeenTold || this.#reading) return true;
    return this.#unkept !== undefined && this.#options.now() >= this.#triedAtMs + pauseMs;
  }

  /** Another instance has put new tokens into the store. */
  tell(): void {
    this.#hasBeenTold = true;
  }

  /** The tokens in the store; undefined where those that are known here are newer, or it cannot be read. */
  read(): Promise<OAuthTokens | undefined> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /**
   * Notes that a refresh token is being used up, which no second instance must try. Throws where one has used it and
   * the store does not say what it got.
   */
  use(refreshToken: string): void {
    const { live, slotId } = this.#options;
    const user = live.shared.get(this.#useOf(refreshToken));
    if (user !== undefined && user !== live.instance) throw cannotRead(slotId);
    live.shared.set(this.#useOf(refreshToken), live.instance, useMs);
  }

  /** A refresh token that was not taken, or that lasts, may be used again. */
  reuse(refreshToken: string): void {
    this.#options.live.shared.delete(this.#useOf(refreshToken));
  }

  /** The tokens serve here even where they cannot be kept. */
  async put(tokens: OAuthTokens): Promise<void> {
    const { slotId, credentials, live, log, now } = this.#options;
    const isReplaced = this.#originThere !== this.#origin && this.#originThere !== this.#replaces;
    if (isReplaced)
      return log.warn({ slot: slotId }, 'the rotated token was not kept: the slot has another account');
    try {
      await credentials.put(slotId, tokens);
      this.#unkept = undefined;
      this.#originThere = this.#origin;
      live.messages.send(renewedTopic, slotId);
    } catch (error) {
      this.#unkept = tokens;
      this.#triedAtMs = now();
      log.error({ err: error }, 'the rotated token could not be kept; it is tried again');
    }
  }

  async #read(): Promise<OAuthTokens | undefined> {
    this.#hasBeenTold = false;
    if (this.#unkept) {
      await this.put(this.#unkept);
      return undefined;
    }
    const { slotId, credentials, log } = this.#options;
    try {
      const there = await credentials.get(slotId);
      this.#originThere = there?.origin;
      return there?.origin === this.#origin ? there : undefined;
    } catch (error) {
      log.warn({ err: error }, 'the tokens of the account could not be read');
      return undefined;
    }
  }

  #useOf(refreshToken: string): string {
    const digest = createHash('sha256').update(refreshToken).digest('base64url');
    return `oauth/${JSON.stringify([this.#options.slotId, digest])}`;
  }
}

function cannotRead(slotId: string): GatewayError {
  return new GatewayError(
    'no_slot_available',
    `Slot "${slotId}" waits for the access token that another instance has renewed: the store does not have it yet.`,
    { failure: { kind: 'timeout' } },
  );
}

const useMs = 600_000;

/** How long tokens that the store has not taken are not tried again. */
const pauseMs = 5000;
