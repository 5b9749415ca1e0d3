import { randomInt, randomUUID } from 'node:crypto';
import { MemoryLocks } from '../memory/hub.js';
import type { RedisNames } from './names.js';
import { dropLock, takeLock } from './scripts.js';
import { endsTheSession, type RedisSession } from './session.js';

/**
 * Distributed locks in Redis, renewed by their holders. While Redis is down, locks hold only within this
 * instance.
 */
export class RedisLocks {
  readonly #names: RedisNames;
  readonly #local = new MemoryLocks();
  /** Wake-up callbacks of waiting callers, by lock name. */
  readonly #waiting = new Map<string, () => void>();
  #session: RedisSession | undefined;

  constructor(names: RedisNames) {
    this.#names = names;
  }

  withLock<Result>(name: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return this.#local.withLock(name, async () => {
      const token = randomUUID();
      while (!(await this.#take(name, token))) await this.#waitForRelease(name);
      const lost = new AbortController();
      const keeping = setInterval(() => void this.#keep(name, token, lost), keepEveryMs).unref();
      try {
        return await work(lost.signal);
      } finally {
        clearInterval(keeping);
        this.#drop(name, token);
      }
    });
  }

  /** Renews a lock; aborts its work if another instance has taken it over. */
  async #keep(name: string, token: string, lost: AbortController): Promise<void> {
    if (lost.signal.aborted || (await this.#take(name, token))) return;
    lost.abort(new Error(`another instance has taken the lock "${name}"`));
  }

  /** Receives that a lock was released, and wakes its waiting caller. */
  receive(name: string): void {
    this.#waiting.get(name)?.();
  }

  join(session: RedisSession): void {
    this.#session = session;
  }

  lose(): void {
    this.#session = undefined;
    for (const wake of this.#waiting.values()) wake();
  }

  /** Tries to acquire a lock; also true while Redis is down. */
  async #take(name: string, token: string): Promise<boolean> {
    const taken = this.#session?.run(takeLock, [this.#names.lock(name)], [token, goneAfterMs]);
    return taken === undefined || taken.then(Boolean, () => true);
  }

  #drop(name: string, token: string): void {
    const args = [token, this.#names.channels.locks, name];
    this.#session?.run(dropLock, [this.#names.lock(name)], args).catch(endsTheSession);
  }

  /**
   * Waits until the lock may be free: its release is published, or a random timeout is over. Each instance
   * has at most one waiting caller per lock.
   */
  async #waitForRelease(name: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#waiting.set(name, resolve);
      timer = setTimeout(resolve, randomInt(150, 350));
    });
    clearTimeout(timer);
    this.#waiting.delete(name);
  }
}

const keepEveryMs = 1000;

/** Expiry of a lock after its last renewal. */
const goneAfterMs = 4000;
