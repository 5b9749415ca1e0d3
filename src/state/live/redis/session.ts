import type { Redis } from 'ioredis';
import type { RedisAccess } from './address.js';
import { createConnection } from './connection.js';
import { labelOf, type RedisServers } from './directory.js';
import { runScript, type Script } from './scripts.js';
import { within } from '../../../kit/time/within.js';

interface SessionListeners {
  /** Receives each message published on the channels, including those of this instance. */
  readonly onMessage: (channel: string, text: string) => void;
  /** Called once, when the session ends for any reason. */
  readonly ended: (why: Error) => void;
}

/**
 * Session at one Redis server: one connection for commands and one for subscriptions. Ends as a whole at the first
 * error or timeout, such as that another server is the master now, and is never repaired; the next session
 * replaces it.
 */
export class RedisSession {
  /** Host and port of the server. */
  readonly server: string;
  readonly #commands: Redis;
  readonly #listening: Redis;
  readonly #listeners: SessionListeners;
  /** Resolves when the session has ended. */
  readonly over: Promise<void>;
  #resolveOver: (() => void) | undefined;
  #why: Error | undefined;
  /** First connection error, more specific than the closed connection that follows it. */
  #firstError: Error | undefined;

  /** Opens a session. Rejects if no server is found, or if it does not answer within the timeout. */
  static async open(
    servers: RedisServers,
    channels: readonly string[],
    listeners: SessionListeners,
  ): Promise<RedisSession> {
    const access = await servers.find().catch((error: Error) => {
      listeners.ended(error);
      throw error;
    });
    const session = new RedisSession(access, listeners);
    try {
      await within(session.#open(channels), openMs, 'it does not answer');
      return session;
    } catch (error) {
      throw session.end(error);
    }
  }

  private constructor(access: RedisAccess, listeners: SessionListeners) {
    this.server = labelOf(access);
    this.#listeners = listeners;
    this.over = new Promise((resolve) => (this.#resolveOver = resolve));
    this.#commands = createConnection(access);
    this.#listening = createConnection(access);
    for (const connection of [this.#commands, this.#listening]) {
      connection.on('error', (error: Error) => (this.#firstError ??= error));
      connection.on('close', () => this.end(new Error('the connection was closed')));
    }
    this.#listening.on('message', (channel: string, text: string) => {
      if (!this.#why) listeners.onMessage(channel, text);
    });
  }

  async #open(channels: readonly string[]): Promise<void> {
    await Promise.all([this.#commands.connect(), this.#listening.connect()]);
    await Promise.all([this.#commands.ping(), this.#listening.subscribe(...channels)]);
  }

  get isOver(): boolean {
    return this.#why !== undefined;
  }

  /** Runs a script. Rejects if Redis refuses it or times out, which ends the session. */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return this.ask((redis) => runScript(redis, script, keys, args));
  }

  /** Runs commands; rejects as `run` does. */
  async ask<Result>(question: (redis: Redis) => Promise<Result>): Promise<Result> {
    if (this.#why) throw this.#why;
    try {
      return await within(question(this.#commands), commandMs, `it has not answered within ${commandMs} ms`);
    } catch (error) {
      throw this.end(error);
    }
  }

  /** Ends the session; returns the reason of its end, which may be an earlier error than this one. */
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

/** Ignores the error of a command without a caller: the failure ends the session, and that end is logged. */
export const endsTheSession = (): void => undefined;

const openMs = 1500;
const commandMs = 400;
