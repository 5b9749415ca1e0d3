import { Redis } from 'ioredis';
import type { RedisAddress } from './address.js';
import type { Script } from './scripts.js';
import { within } from '../../plugin/index.js';

export interface SessionListeners {
  /** With each message of the channels, from whichever instance. */
  readonly heard: (channel: string, text: string) => void;
  /** Once, as it ends, whoever has ended it. */
  readonly ended: (why: Error) => void;
}

/**
 * One stay at Redis: a connection for commands and one that listens. It ends as a whole at the first thing that fails or
 * is late, and is never mended: what comes next is another session.
 */
export class RedisSession {
  readonly #commands: Redis;
  readonly #listening: Redis;
  readonly #listeners: SessionListeners;
  /** Resolves when it has ended. */
  readonly over: Promise<void>;
  #resolveOver: (() => void) | undefined;
  #why: Error | undefined;
  /** What has gone wrong on the way to the first answer says more than the closed connection after it. */
  #firstError: Error | undefined;

  /** Rejects where Redis does not answer in time. */
  static async open(
    address: RedisAddress,
    channels: readonly string[],
    listeners: SessionListeners,
  ): Promise<RedisSession> {
    const session = new RedisSession(address, listeners);
    try {
      await within(session.#open(channels), openMs, 'it does not answer');
      return session;
    } catch (error) {
      throw session.end(error);
    }
  }

  private constructor({ access }: RedisAddress, listeners: SessionListeners) {
    this.#listeners = listeners;
    this.over = new Promise((resolve) => (this.#resolveOver = resolve));
    this.#commands = new Redis({ ...once, ...access });
    this.#listening = new Redis({ ...once, ...access });
    for (const connection of [this.#commands, this.#listening]) {
      connection.on('error', (error: Error) => (this.#firstError ??= error));
      connection.on('close', () => this.end(new Error('the connection was closed')));
    }
    this.#listening.on('message', (channel: string, text: string) => {
      if (!this.#why) listeners.heard(channel, text);
    });
  }

  async #open(channels: readonly string[]): Promise<void> {
    await Promise.all([this.#commands.connect(), this.#listening.connect()]);
    await Promise.all([this.#commands.ping(), this.#listening.subscribe(...channels)]);
  }

  get isOver(): boolean {
    return this.#why !== undefined;
  }

  /** Rejects where Redis refuses or is late, which ends the session. */
  async run(
    { lua, sha }: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return this.ask(async (redis) => {
      try {
        return await redis.evalsha(sha, keys.length, ...keys, ...args);
      } catch (error) {
        if (!isUnknownScript(error)) throw error;
        return redis.eval(lua, keys.length, ...keys, ...args);
      }
    });
  }

  /** As `run`, with commands. */
  async ask<Result>(question: (redis: Redis) => Promise<Result>): Promise<Result> {
    if (this.#why) throw this.#why;
    try {
      return await within(question(this.#commands), commandMs, `it has not answered within ${commandMs} ms`);
    } catch (error) {
      throw this.end(error);
    }
  }

  /** Gives why it has ended, which may be another reason than this one. */
  end(error: unknown): Error {
    if (this.#why) return this.#why;
    const why = this.#firstError ?? (error instanceof Error ? error : new Error(String(error)));
    this.#why = why;
    this.#commands.disconnect();
    this.#listening.disconnect();
    this.#listeners.ended(why);
    this.#resolveOver?.();
    return why;
  }
}

/** A connection lives once; commands that cannot be sent at once fail at once. */
const once = {
  lazyConnect: true,
  retryStrategy: null,
  enableOfflineQueue: false,
  enableReadyCheck: false,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 1000,
  disableClientInfo: true,
  protocol: 2,
} as const;

/** For a command that nobody waits for: it ends the session by failing, and that tells what there is to tell. */
export const endsTheSession = (): void => undefined;

const openMs = 1500;
const commandMs = 400;

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
