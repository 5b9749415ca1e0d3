import { Socket } from 'node:net';
import { DatabaseError, Pool, types, TypeOverrides } from 'pg';
import type { Logger } from '../../plugin/internal.js';
import { StoreError } from '../store-error.js';
import { cannotUse } from './postgres-faults.js';
import type { Tables } from './tables.js';
import { Kysely, PostgresDialect } from './kysely.js';

interface Postgres {
  readonly db: Kysely<Tables>;
  /** Host and port: fit to be logged. */
  readonly host: string;
  /** Destroys all connections: pending queries fail at once, and later ones use new connections. */
  readonly closeConnections: () => void;
}

interface Limits {
  readonly connections: number;
  /** Undefined: none. */
  readonly queryMs: number | undefined;
}

/** Connects to PostgreSQL for migrations, by one connection, whose queries take as long as they do. */
export async function openForMigration(url: string, log: Logger): Promise<Kysely<Tables>> {
  return (await openPostgres(url, log, { connections: 1, queryMs: undefined })).db;
}

/** Connects to PostgreSQL. Throws a StoreError if it is unreachable; later failures reject the queries. */
export async function openPostgres(
  url: string,
  log: Logger,
  { connections, queryMs }: Limits = { connections: 10, queryMs: queryTimeoutMs },
): Promise<Postgres> {
  const sockets = new Set<Socket>();
  const pool = new Pool({
    stream: () => tracked(new Socket(), sockets),
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(queryMs !== undefined && { query_timeout: queryMs }),
    keepAlive: true,
    types: plainNumbers(),
  });
  // The next query replaces a broken connection; without a listener its error would end the process.
  const broke = (error: Error) => log.debug({ err: error }, 'A connection to PostgreSQL broke.');
  pool.on('error', broke);
  pool.on('connect', (client) => client.on('error', broke));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  await db
    .connection()
    .execute(async () => undefined)
    .catch(async (error: unknown) => {
      await db.destroy();
      throw cannotUse(nameOf(url), error);
    });
  const closeConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  return { db, host: hostOf(url), closeConnections };
}

/** True if the driver's error means that the server is unreachable, shutting down or out of connections. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) return /^(08|57P|53)/.test(error.code ?? '');
  return !(error instanceof TypeError || error instanceof SyntaxError); // a bug, or invalid stored data
}

/** True for a failure of the server or of the connection to it, rather than of a statement's values (54: too long for an index). */
export function isFailure(error: unknown): boolean {
  if (error instanceof DatabaseError) return !/^(22|23|54)/.test(error.code ?? '');
  return isUnavailable(error) && !(error instanceof StoreError);
}

function tracked(socket: Socket, sockets: Set<Socket>): Socket {
  sockets.add(socket);
  return socket.once('close', () => void sockets.delete(socket));
}

const connectTimeoutMs = 2000;
const queryTimeoutMs = 5000;

/** int8 and numeric come as text, since they may not fit a number; ours are times and counts, which do. */
function plainNumbers(): TypeOverrides {
  const overrides = new TypeOverrides();
  for (const type of [types.builtins.INT8, types.builtins.NUMERIC]) overrides.setTypeParser(type, Number);
  return overrides;
}

/** Server in log lines and errors, without the user and the password. */
export function nameOf(url: string): string {
  return `PostgreSQL at ${hostOf(url)}`;
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'the given address';
}
