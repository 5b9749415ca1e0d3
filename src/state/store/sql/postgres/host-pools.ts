import { Socket } from 'node:net';
import { Pool, types, TypeOverrides, type PoolClient } from 'pg';
import { within } from '../../../../kit/time/within.js';
import type { Logger } from '../../../../plugin/index.js';
import { StoreBusyError } from '../../store-error.js';
import type { PostgresAddress, PostgresHost } from './address.js';
import * as faults from './faults.js';
import { SizedPool } from './sized-pool.js';
import { tlsOptions } from './tls.js';

interface HostPoolsOptions {
  readonly address: PostgresAddress;
  /** Max connections to one host. */
  readonly connections: number;
  /** Max time of a query; 0: none. */
  readonly queryMs: number;
  /** Accepts read-only servers, too. */
  readonly anyServer: boolean;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

/** Connections to one PostgreSQL by a pool for each of its hosts, of which a writable one is used. */
export class HostPools {
  readonly #options: HostPoolsOptions;
  readonly #pools = new Map<PostgresHost, SizedPool>();
  /** Pools whose last connections are still in use. */
  readonly #ending = new Set<Promise<void>>();
  readonly #sockets = new Set<Socket>();
  #current: PostgresHost | undefined;
  #isEnded = false;

  constructor(options: HostPoolsOptions) {
    this.#options = options;
  }

  /** Max connections at present. */
  get capacity(): number {
    const pool = this.#current && this.#pools.get(this.#current);
    return pool?.capacity ?? this.#options.connections;
  }

  /**
   * Takes a connection to the host in use, else to the first writable one of the others. Throws a NoConnectionError,
   * a StoreBusyError if no connection has become free, or an Error after `end`.
   */
  async connect(): Promise<HeldClient> {
    const failures: { readonly host: PostgresHost; readonly error: unknown }[] = [];
    const { hosts } = this.#options.address;
    for (const host of this.#current
      ? [this.#current, ...hosts.filter((each) => each !== this.#current)]
      : hosts) {
      if (this.#isEnded) throw closed();
      try {
        const pool = this.#poolOf(host);
        return this.#held(host, pool, await pool.connect());
      } catch (error) {
        if (error instanceof StoreBusyError) throw error;
        failures.push({ host, error });
      }
    }
    throw this.#isEnded ? closed() : new faults.NoConnectionError(failures);
  }

  /** Closes all connections, those in use once they are released. */
  retireAll(): void {
    for (const [host, pool] of this.#pools) this.#retire(host, pool);
  }

  /** Destroys all connections: pending queries fail at once. */
  destroySockets(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.retireAll();
    await Promise.all(this.#ending);
  }

  /** The connection as it is used. Closes it and throws an Error after `end`, which would wait for its release. */
  #held(host: PostgresHost, pool: SizedPool, client: PoolClient): HeldClient {
    if (this.#isEnded) {
      client.release(true);
      throw closed();
    }
    this.#use(host);
    return new HeldClient(client, (error) => faults.isOfHost(error) && this.#retire(host, pool));
  }

  #use(host: PostgresHost): void {
    const before = this.#current;
    this.#current = host;
    if (before === undefined || before === host) return;
    this.#options.log.info(
      { host: host.label, before: before.label },
      'PostgreSQL is now used on another host.',
    );
    const pool = this.#pools.get(before);
    if (pool) this.#retire(before, pool);
  }

  #retire(host: PostgresHost, pool: SizedPool): void {
    if (this.#pools.get(host) !== pool) return;
    this.#pools.delete(host);
    const ended = pool.end().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  #poolOf(host: PostgresHost): SizedPool {
    const known = this.#pools.get(host);
    if (known) return known;
    const { address, log, connections, anyServer } = this.#options;
    const pool = new SizedPool(this.#newPool(host), {
      connections,
      tls: () => tlsOptions(address.tls, host.host),
      verify: anyServer ? undefined : verifyWritable,
      log,
    });
    this.#pools.set(host, pool);
    return pool;
  }

  #newPool({ host, port }: PostgresHost): Pool {
    const { address, connections, queryMs, log } = this.#options;
    const pool = new Pool({
      ...address.parameters,
      host,
      ...(port !== undefined && { port }),
      user: address.user,
      database: address.database,
      password: address.password || process.env['PGPASSWORD'] || missingPassword,
      max: connections,
      min: 1, // another process might take the place of the last one
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: queryMs,
      keepAlive: true,
      types: plainNumbers(),
      stream: () => this.#tracked(new Socket()),
    });
    // The next query replaces a broken connection; without a listener its error would end the process.
    const broke = (error: Error) => log.debug({ err: error }, 'A connection to PostgreSQL broke.');
    pool.on('error', broke);
    pool.on('connect', (client) => client.on('error', broke));
    return pool;
  }

  #tracked(socket: Socket): Socket {
    this.#sockets.add(socket);
    return socket.once('close', () => void this.#sockets.delete(socket));
  }
}

function closed(): Error {
  return new Error('The connections to PostgreSQL are closed.');
}

/** A connection in use, which is closed at its release after an error that broke it. */
export class HeldClient {
  readonly #client: PoolClient;
  readonly #onFault: (error: unknown) => void;
  #isBroken = false;

  constructor(client: PoolClient, onFault: (error: unknown) => void) {
    this.#client = client;
    this.#onFault = onFault;
  }

  async query(text: string, values: readonly unknown[]) {
    try {
      return await this.#client.query(text, [...values]);
    } catch (error) {
      this.#isBroken ||= faults.isOfConnection(error);
      this.#onFault(error);
      throw error;
    }
  }

  release(): void {
    this.#client.release(this.#isBroken);
  }
}

/** Not pg_is_in_recovery(), which misses servers that are read-only by a setting. */
export const isReadOnlyQuery = 'show transaction_read_only';

/** Throws a ReadOnlyError if the server is read-only. */
async function verifyWritable(client: PoolClient): Promise<void> {
  const asked = client.query<{ readonly transaction_read_only: string }>(isReadOnlyQuery);
  const late = `it has not answered within ${connectTimeoutMs} ms`;
  const { rows } = await within(asked, connectTimeoutMs, late);
  if (rows[0]?.transaction_read_only === 'on') throw new faults.ReadOnlyError();
}

/** Replaces the password, so that the driver does not look for one in other files. */
function missingPassword(): never {
  throw new Error('it asks for a password, and the address has none');
}

const connectTimeoutMs = 2000;

/** int8 and numeric arrive as text, since they may not fit a number; the times and counts here do. */
function plainNumbers(): TypeOverrides {
  const overrides = new TypeOverrides();
  for (const type of [types.builtins.INT8, types.builtins.NUMERIC]) overrides.setTypeParser(type, Number);
  return overrides;
}
