import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Caches, Live } from '../../../plugin/core.js';
import type { Logger } from '../../../plugin/index.js';
import type { RedisAddress } from './address.js';
import { RedisClaims } from './claims.js';
import { RedisServers } from './directory.js';
import { RedisLocks } from './locks.js';
import { RedisMessages } from './messages.js';
import { RedisMeters } from './meters.js';
import { RedisNames } from './names.js';
import { RedisPermits } from './permits.js';
import { endsTheSession, RedisSession } from './session.js';
import { RedisSharedMap } from './shared-map.js';
import { HybridClock } from '../hybrid-clock.js';

export interface RedisLiveOptions {
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/**
 * State shared by instances through Redis or Valkey. While the server is down, each instance continues
 * alone.
 */
export class RedisLive implements Live {
  readonly instance = randomUUID();
  readonly shared: RedisSharedMap;
  readonly permits: RedisPermits;
  readonly meters: RedisMeters;
  readonly messages: RedisMessages;
  readonly claims: RedisClaims;
  readonly #locks: RedisLocks;
  readonly #address: RedisAddress;
  readonly #servers: RedisServers;
  readonly #names: RedisNames;
  readonly #handlers: ReadonlyMap<string, (text: string) => void>;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  #session: RedisSession | undefined;
  /** Connection state that was last logged. */
  #logged: 'up' | 'down' | undefined;
  #connecting: Promise<void> | undefined;

  /** Resolves when Redis is connected, or after the first failed attempt. */
  static async open(address: RedisAddress, options: RedisLiveOptions): Promise<RedisLive> {
    const live = new RedisLive(address, options);
    await new Promise<void>((resolve) => {
      live.#connecting = live.#connect(resolve);
    });
    return live;
  }

  private constructor(address: RedisAddress, { log, now = Date.now }: RedisLiveOptions) {
    this.#address = address;
    this.#servers = new RedisServers(address);
    this.#log = log;
    this.#names = new RedisNames(address);
    const clock = new HybridClock(now);
    this.shared = new RedisSharedMap(this.#names, clock);
    this.permits = new RedisPermits(this.instance, this.#names, clock);
    this.meters = new RedisMeters(this.#names, now);
    this.messages = new RedisMessages(this.instance, this.#names);
    this.claims = new RedisClaims(this.#names, now);
    this.#locks = new RedisLocks(this.#names);
    const { channels } = this.#names;
    this.#handlers = new Map([
      [channels.shared, (text) => this.shared.receive(text)],
      [channels.permits, (text) => this.permits.receive(text)],
      [channels.messages, (text) => this.messages.deliver(text)],
      [channels.locks, (text) => this.#locks.receive(text)],
    ]);
  }

  get isDown(): boolean {
    return this.#session === undefined;
  }

  get caches(): Caches {
    return { shared_state: () => this.shared.fill, ...this.meters.caches };
  }

  get instances(): number {
    return this.permits.others + 1;
  }

  withLock<Result>(name: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#locks.withLock(name, work);
  }

  /** Sends pending writes, and releases the permits of this instance. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#closing.abort();
    if (session) {
      await this.shared.flush();
      await this.permits.leave(session).catch(() => undefined); // others release them when the heartbeats end
      session.end(new Error('this instance has closed'));
    }
    await this.#connecting;
  }

  /** Keeps a session open: reconnects with exponential backoff and jitter. */
  async #connect(tried: () => void): Promise<void> {
    const { signal } = this.#closing;
    for (let pauseMs = firstPauseMs; !signal.aborted; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
      const session = await this.#join();
      tried();
      if (session) {
        await session.over;
        pauseMs = firstPauseMs;
      }
      const jitteredMs = pauseMs * (0.5 + Math.random() / 2);
      await delay(jitteredMs, undefined, { signal, ref: false }).catch(() => undefined); // closed
    }
  }

  /** Opens and synchronizes a session; undefined on failure, which `#lose` has logged. */
  async #join(): Promise<RedisSession | undefined> {
    let session: RedisSession | undefined;
    const onMessage = (channel: string, text: string) => this.#receive(channel, text);
    const ended = (why: Error) => this.#lose(why);
    try {
      session = await RedisSession.open(this.#servers, Object.values(this.#names.channels), {
        onMessage,
        ended,
      });
      await this.#synchronize(session);
      if (this.#closing.signal.aborted) throw new Error('this instance has closed');
      return session;
    } catch (error) {
      session?.end(error);
      return undefined;
    }
  }

  async #synchronize(session: RedisSession): Promise<void> {
    await this.permits.heartbeat(session);
    await this.shared.join(session);
    await this.meters.join(session);
    if (session.isOver) return;
    this.#locks.join(session);
    this.messages.join(session);
    this.claims.join(session);
    this.#session = session;
    void this.#sendHeartbeats(session);
    const words =
      this.#logged === 'down' ? 'answers again; the state of the instances is merged' : 'is joined';
    const { server } = session;
    this.#log.info({ instance: this.instance, server }, `Redis at ${this.#address.label} ${words}.`);
    this.#logged = 'up';
  }

  async #sendHeartbeats(session: RedisSession): Promise<void> {
    while (!session.isOver) {
      await delay(heartbeatEveryMs, undefined, { ref: false });
      if (!session.isOver) await this.permits.heartbeat(session).catch(endsTheSession);
    }
  }

  /**
   * Switches to local operation. Logs only the message of the error: ioredis attaches the command to it,
   * which may contain the password.
   */
  #lose({ message }: Error): void {
    this.#session = undefined;
    for (const part of [this.shared, this.permits, this.meters, this.messages, this.claims, this.#locks])
      part.lose();
    if (this.#logged === 'down' || this.#closing.signal.aborted) return;
    this.#logged = 'down';
    this.#log.warn(
      { reason: message },
      `Redis at ${this.#address.label} is unavailable; until it answers, this instance works on its own with the state it has.`,
    );
  }

  #receive(channel: string, text: string): void {
    try {
      this.#handlers.get(channel)?.(text);
    } catch (error) {
      this.#log.error({ err: error }, 'A message of another instance could not be processed.');
    }
  }
}

const firstPauseMs = 100;
const maxPauseMs = 2000;
const heartbeatEveryMs = 1000;
