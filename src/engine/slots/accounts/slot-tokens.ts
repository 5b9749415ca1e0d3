import { createHash } from 'node:crypto';
import { GatewayError, type Clock, type Logger } from '../../../plugin/index.js';
import type { HttpClient, OAuthTokens, TokenStore } from '../../../plugin/upstream/index.js';
import type { Live } from '../../../plugin/core.js';
import type { Store } from '../../../state/store/contract/store.js';

/** Parts of an account's host. */
export interface AccountParts {
  readonly slotId: string;
  readonly credentials: Store['credentials'];
  readonly live: Live;
  readonly log: Logger;
  readonly clock: Clock;
  readonly connect: (baseUrl: string) => HttpClient;
  readonly resolvePath: (file: string) => string;
  readonly dry: boolean;
}

/** Topic of messages about new tokens of a slot in the store. */
export const renewedTopic = 'slots/renewed';

/** Store of one account's tokens, shared by all instances. */
export class SlotTokens implements TokenStore {
  readonly #origin: string;
  readonly #options: AccountParts;
  /** Origin of the stored tokens that these replace. */
  readonly #replaces: string | undefined;
  /** Origin of the tokens in the store, as last read. */
  #originThere: string | undefined;
  #isPublished = false;
  #reading: Promise<OAuthTokens | undefined> | undefined;
  /** Tokens that the store has not accepted yet. */
  #unkept: OAuthTokens | undefined;
  #triedAtMs = -Infinity;

  private constructor(origin: string, options: AccountParts, there: OAuthTokens | undefined) {
    this.#origin = origin;
    this.#options = options;
    this.#originThere = there?.origin;
    this.#replaces = there?.origin;
  }

  /**
   * Opens the store, and returns its tokens if they descend from `origin`. Throws the errors of the store.
   */
  static async open(
    origin: string,
    options: AccountParts,
  ): Promise<readonly [SlotTokens, OAuthTokens | undefined]> {
    const there = await options.credentials.get(options.slotId);
    return [new SlotTokens(origin, options, there), there?.origin === origin ? there : undefined];
  }

  /** True if the store must be read, or written again, before the tokens are used. */
  get hasUpdate(): boolean {
    if (this.#isPublished || this.#reading) return true;
    return this.#unkept !== undefined && this.#options.clock.now() >= this.#triedAtMs + pauseMs;
  }

  /** Receives that another instance has stored new tokens. */
  publish(): void {
    this.#isPublished = true;
  }

  /** Tokens in the store; undefined if those known here are newer, or the store cannot be read. */
  read(): Promise<OAuthTokens | undefined> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /**
   * Marks a refresh token as used, because no second instance may try it. Throws if another instance has
   * used it and the store does not have the result yet.
   */
  use(refreshToken: string): void {
    const { live, slotId } = this.#options;
    const user = live.shared.get(this.#useOf(refreshToken));
    if (user !== undefined && user !== live.instance) throw cannotRead(slotId);
    live.shared.set(this.#useOf(refreshToken), live.instance, useMs);
  }

  /** Removes the mark of a refresh token that was not accepted, or is not rotated. */
  reuse(refreshToken: string): void {
    this.#options.live.shared.delete(this.#useOf(refreshToken));
  }

  /** Stores new tokens; if that fails, this instance uses them anyway and retries later. */
  async put(tokens: OAuthTokens): Promise<void> {
    const { slotId, credentials, live, log, clock } = this.#options;
    const isReplaced = this.#originThere !== this.#origin && this.#originThere !== this.#replaces;
    if (isReplaced)
      return log.warn(
        { slot: slotId },
        'The rotated token was not stored: the slot now has another account.',
      );
    try {
      await credentials.put(slotId, tokens);
      this.#unkept = undefined;
      this.#originThere = this.#origin;
      live.messages.send(renewedTopic, slotId);
    } catch (error) {
      this.#unkept = tokens;
      this.#triedAtMs = clock.now();
      log.error({ err: error }, 'The rotated token could not be stored; retrying.');
    }
  }

  async #read(): Promise<OAuthTokens | undefined> {
    this.#isPublished = false;
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
      log.warn({ err: error }, 'The tokens of the account could not be read.');
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
    `Slot "${slotId}" is waiting for the access token that another instance has renewed: it is not in the store yet.`,
    { callersMessage: "The gateway's account at its provider is not ready.", failure: { kind: 'timeout' } },
  );
}

const useMs = 600_000;

/** Pause before the next try to store tokens. */
const pauseMs = 5000;
