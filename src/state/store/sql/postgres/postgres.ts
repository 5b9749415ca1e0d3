import { Kysely, PostgresDialect, sql, type PostgresPool } from 'kysely';
import { DatabaseError } from 'pg';
import type { Logger } from '../../../../plugin/index.js';
import { labelOf, toPostgresAddress, type PostgresAddress } from './address.js';
import { NoConnectionError, ReadOnlyError } from './faults.js';
import { HostPools, isReadOnlyQuery, type HeldClient } from './host-pools.js';
import { defaultConnections, Places, type Asker, type Leave } from './places.js';
import { StoreBusyError, StoreError } from '../../store-error.js';
import { cannotUse } from './postgres-faults.js';
import type { Tables } from '../tables/tables.js';

interface Postgres {
  readonly db: Kysely<Tables>;
  /** The same database; its queries wait for those of `db` and `placed`. */
  readonly searches: Kysely<Tables>;
  /** The same database, for calls that already hold a place of `takePlace`. */
  readonly placed: Kysely<Tables>;
  /** Waits for a connection to be free. Rejects with a StoreBusyError if none becomes free in time. */
  readonly takePlace: () => Leave | Promise<Leave>;
  /** Rejects if the server does not answer, or has become read-only. */
  readonly probe: () => Promise<void>;
  /** Destroys all connections: pending queries fail at once, and later ones use new connections. */
  readonly closeConnections: () => void;
}

interface PostgresOptions {
  /** Max connections. */
  readonly connections?: number;
  /** Max time of a query; 0: none. */
  readonly queryMs?: number;
  /** Accepts a read-only server, too, if the address has only one. */
  readonly isReadOnly?: boolean;
}

/**
 * Connects to PostgreSQL for migrations, by one connection without a query timeout; also to a read-only server, whose
 * state is reported.
 */
export async function openForMigration(url: string, log: Logger): Promise<Kysely<Tables>> {
  return (await openPostgres(url, log, { connections: 1, queryMs: 0, isReadOnly: true })).db;
}

/** Connects to PostgreSQL. Throws a StoreError if it cannot be used; later failures reject the queries. */
export async function openPostgres(
  url: string,
  log: Logger,
  { connections = defaultConnections, queryMs = queryTimeoutMs, isReadOnly = false }: PostgresOptions = {},
): Promise<Postgres> {
  const address = addressOf(url);
  const anyServer = isReadOnly && address.hosts.length === 1;
  const pools = new HostPools({ address, connections, queryMs, anyServer, log });
  const places = new Places(() => pools.capacity, maxWaitMs);
  const [db, searches, placed] = (['request', 'search', undefined] as const).map(
    (asker) => new Kysely<Tables>({ dialect: new PostgresDialect({ pool: poolFor(asker, pools, places) }) }),
  ) as [Kysely<Tables>, Kysely<Tables>, Kysely<Tables>]; // as many as askers
  await db
    .connection()
    .execute(async () => undefined)
    .catch(async (error: unknown) => {
      await db.destroy();
      throw cannotConnect(nameOf(url), error);
    });
  return {
    db,
    searches,
    placed,
    takePlace: () => places.take('request'),
    probe: () => probe(placed, pools),
    closeConnections: () => pools.destroySockets(),
  };
}

/** True if the error means that the server is unreachable, shutting down, read-only or out of connections. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreBusyError) return false;
  if (error instanceof DatabaseError) return /^(08|57P|53|25006|3D000)/.test(error.code ?? '');
  return !(error instanceof TypeError || error instanceof SyntaxError); // a bug, or invalid stored data
}

/** True for a failure of the server or of the connection to it, rather than of a statement's values (54: too long for an index). */
export function isFailure(error: unknown): boolean {
  if (error instanceof StoreBusyError) return true;
  if (error instanceof DatabaseError) return !/^(22|23|54)/.test(error.code ?? '');
  return isUnavailable(error) && !(error instanceof StoreError);
}

/** Connections of one requester, as Kysely takes them; without a requester, they need no place. */
function poolFor(asker: Asker | undefined, pools: HostPools, places: Places): PostgresPool {
  return {
    async connect() {
      const leave = asker && (await places.take(asker));
      try {
        return poolClientOf(await pools.connect(), leave);
      } catch (error) {
        leave?.();
        throw error;
      }
    },
    end: () => pools.end(),
  };
}

type PoolClient = Awaited<ReturnType<PostgresPool['connect']>>;

function poolClientOf(client: HeldClient, leave: Leave | undefined): PoolClient {
  const query = (text: string, values: readonly unknown[]) => client.query(text, values);
  const release = () => {
    client.release();
    leave?.();
  };
  return { query, release } as unknown as PoolClient; // without cursors, which no query uses
}

async function probe(db: Kysely<Tables>, pools: HostPools): Promise<void> {
  const query = sql<{ readonly transaction_read_only: string }>`${sql.raw(isReadOnlyQuery)}`;
  const { rows } = await query.execute(db);
  if (rows[0]?.transaction_read_only !== 'on') return;
  pools.retireAll();
  throw new ReadOnlyError();
}

const queryTimeoutMs = 5000;

/** Max wait for a connection, as long as that of a query. */
const maxWaitMs = queryTimeoutMs;

function addressOf(url: string): PostgresAddress {
  try {
    return toPostgresAddress(url);
  } catch (error) {
    throw new StoreError(`The address of PostgreSQL ${(error as Error).message}.`); // it throws nothing else
  }
}

/** Error for the operator, with the most specific host's error as its cause. */
function cannotConnect(name: string, error: unknown): StoreError {
  const shown = cannotUse(name, error);
  return error instanceof NoConnectionError ? new StoreError(shown.message, { cause: error.cause }) : shown;
}

/** Server in log lines and errors, without the user and the password. Throws a StoreError for an invalid address. */
export function nameOf(url: string): string {
  return `PostgreSQL at ${labelOf(addressOf(url))}`;
}
