import type { ClientConfig, Pool, PoolClient } from 'pg';
import type { Logger } from '../../../../plugin/index.js';
import { StoreBusyError } from '../../store-error.js';
import * as faults from './faults.js';

interface SizedPoolOptions {
  /** Max connections. */
  readonly connections: number;
  /** TLS of the next connection. */
  readonly tls: () => Promise<ClientConfig['ssl']>;
  /** Rejects if a new connection is unusable. */
  readonly verify: ((client: PoolClient) => Promise<void>) | undefined;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * A pool of connections to one server, as large as the server allows: a connection refused for their number waits for
 * an open one, and another is tried ten seconds later.
 */
export class SizedPool {
  readonly #pool: Pool;
  readonly #options: SizedPoolOptions;
  readonly #verified = new WeakSet<PoolClient>();
  /** Open connections, without those in progress. */
  #open = 0;
  #refusedAtMs = -Infinity;
  #hasWarned = false;

  constructor(pool: Pool, options: SizedPoolOptions) {
    this.#pool = pool;
    this.#options = options;
    pool.on('connect', () => {
      this.#open += 1;
      pool.options.max = Math.max(pool.options.max, Math.min(this.#open, options.connections));
      this.#warnOnce();
    });
    pool.on('remove', () => void (this.#open -= 1));
  }

  /** Max connections at present. */
  get capacity(): number {
    return this.#pool.options.max;
  }

  /** Throws a StoreBusyError if all connections stay in use. */
  async connect(): Promise<PoolClient> {
    const client = await this.#take();
    const { verify } = this.#options;
    if (!verify || this.#verified.has(client)) return client;
    try {
      await verify(client);
    } catch (error) {
      client.release(true);
      throw error;
    }
    this.#verified.add(client);
    return client;
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  async #take(): Promise<PoolClient> {
    this.#grow();
    for (let isFirst = true; ; isFirst = false) {
      try {
        if (this.#pool.idleCount === 0) this.#pool.options.ssl = await this.#options.tls();
        return await this.#pool.connect();
      } catch (error) {
        if (faults.isPoolBusy(error))
          throw new StoreBusyError('All connections are in use.', { cause: error });
        if (faults.codeOf(error) !== faults.tooManyConnections) throw error;
        if (this.#open === 0 && !(isFirst && this.#pool.totalCount > 0)) throw error;
        this.#shrink();
      }
    }
  }

  #shrink(): void {
    this.#pool.options.max = Math.max(1, this.#open);
    this.#refusedAtMs = performance.now();
    this.#warnOnce();
  }

  /** Allows one connection more, some time after the last one was refused. */
  #grow(): void {
    const { options } = this.#pool;
    if (options.max >= this.#options.connections || this.#open < options.max) return;
    if (performance.now() - this.#refusedAtMs < growEveryMs) return;
    options.max += 1;
    this.#refusedAtMs = performance.now();
  }

  /** Warns when no connection is in progress any more. */
  #warnOnce(): void {
    if (
      this.#hasWarned ||
      this.#open === 0 ||
      this.#refusedAtMs === -Infinity ||
      this.#pool.totalCount > this.#open
    )
      return;
    this.#hasWarned = true;
    this.#options.log.warn(
      { connections: this.#open, pool: this.#options.connections },
      `PostgreSQL allows this process ${this.#open} of the ${this.#options.connections} connections of \`store.pool\`; requests share them.`,
    );
  }
}

const growEveryMs = 10_000;
