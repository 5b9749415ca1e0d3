import { StoreError } from '../../store-error.js';
import { sql, type Kysely } from 'kysely';
import type { Schema } from '../tables/migrate.js';
import type { Tables } from '../tables/tables.js';

/** State of a PostgreSQL database, as far as a gateway depends on it. */
export interface ServerState {
  readonly user: string;
  readonly database: string;
  /** First usable schema of the search path. */
  readonly schema: string | null;
  readonly canCreate: boolean;
  /** A table of the gateway that the user may not read and write. */
  readonly closedTable: string | null;
  readonly isReadOnly: boolean;
  readonly isStandby: boolean;
  /** `UTF8`. */
  readonly encoding: string;
  /** Connections that this user may still open, of `maxConnections`. */
  readonly freeConnections: number;
  readonly maxConnections: number;
}

/** Reads the state, without changes and without special permissions. */
export async function serverState(db: Kysely<Tables>): Promise<ServerState> {
  const { rows } = await sql<ServerState>`
    select current_user as "user", current_database() as database, current_schema() as schema,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as "canCreate",
      current_setting('transaction_read_only') = 'on' as "isReadOnly",
      pg_is_in_recovery() as "isStandby",
      current_setting('server_encoding') as encoding,
      ${closedTable} as "closedTable",
      ${maxConnections} as "maxConnections",
      ${freeConnections} as "freeConnections"
    from pg_roles r, pg_database d where r.rolname = current_user and d.datname = current_database()`.execute(
    db,
  );
  const [state] = rows;
  if (!state) throw new StoreError('PostgreSQL does not report the user of `store:`.');
  return state;
}

/** Findings that keep a start from using the database, or that an operator should fix. */
export interface ServerFindings {
  readonly problem: string | undefined;
  readonly warning: string | undefined;
}

/** State of the tables; if the user may not read them, one that `serverFindings` reports. */
export async function readableState(
  { schema, closedTable: table }: ServerState,
  read: () => Promise<Schema>,
): Promise<Schema['state']> {
  if (schema === null) return 'empty';
  return table === null ? (await read()).state : 'current';
}

/** Findings about a database whose tables are in this state; sentences without the name of the server. */
export function serverFindings(server: ServerState, state: Schema['state']): ServerFindings {
  const found = checks.map((check) => check(server, state)).filter((each) => each !== undefined);
  return {
    problem: found.find(({ isProblem }) => isProblem)?.text,
    warning: found.find(({ isProblem }) => !isProblem)?.text,
  };
}

type Check = (
  server: ServerState,
  state: Schema['state'],
) => { readonly isProblem: boolean; readonly text: string } | undefined;

const checks: readonly Check[] = [
  ({ isReadOnly, isStandby }) => {
    if (!isReadOnly) return undefined;
    const why = isStandby
      ? 'is a standby, which is read-only'
      : 'is read-only by default_transaction_read_only';
    return { isProblem: true, text: `${why}; name the server that accepts writes` };
  },
  ({ schema, user, database }) =>
    schema === null
      ? {
          isProblem: true,
          text: `has no schema for "${user}" in the database "${database}"; create the one that search_path names (create schema NAME authorization "${user}")`,
        }
      : undefined,
  ({ canCreate, schema, user }, state) =>
    canCreate || state === 'current' || state === 'newer'
      ? undefined
      : {
          isProblem: true,
          text: `does not let "${user}" create tables in the schema "${schema}"; grant it (grant create on schema "${schema}" to "${user}"), or name another schema (?options=-c search_path=NAME)`,
        },
  ({ closedTable: table, user }) =>
    table === null
      ? undefined
      : {
          isProblem: true,
          text: `does not let "${user}" read and write the table "${table}"; grant it (grant select, insert, update, delete on all tables in schema … to "${user}")`,
        },
  ({ encoding, database }, state) => {
    if (encoding === 'UTF8') return undefined;
    const isProblem = state === 'empty';
    const cure = isProblem
      ? `recreate the database (create database "${database}" encoding 'UTF8' template template0)`
      : 'rows with other characters are refused; move the tables to a database in UTF8 (pg_dump, pg_restore)';
    return { isProblem, text: `has the database "${database}" in ${encoding}, not in UTF8; ${cure}` };
  },
];

/** Tables that every gateway writes. */
const written = [
  'keys',
  'credentials',
  'slots',
  'ledger',
  'ledger_hours',
  'bindings',
  'slot_states',
  'sessions',
];

const closedTable = sql`(
  select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = current_schema() and c.relkind in ('r', 'p')
    and (c.relname in ('migrations', ${sql.join(written)}) and not has_table_privilege(c.oid, 'select')
      or c.relname in (${sql.join(written)}) and not (has_table_privilege(c.oid, 'insert')
        and has_table_privilege(c.oid, 'update') and has_table_privilege(c.oid, 'delete')))
  order by c.relname limit 1)`;

/** The lowest of the limits of server, database and role, of which -1 means none. */
const maxConnections = sql`least(
  current_setting('max_connections')::int
    - case when r.rolsuper then 0 else current_setting('superuser_reserved_connections')::int end,
  nullif(d.datconnlimit, -1), nullif(r.rolconnlimit, -1))`;

/** Remaining part of each limit. */
const freeConnections = sql`(
  select least(
    current_setting('max_connections')::int - count(*)
      - case when r.rolsuper then 0 else current_setting('superuser_reserved_connections')::int end,
    nullif(d.datconnlimit, -1) - count(*) filter (where a.datid = d.oid),
    nullif(r.rolconnlimit, -1) - count(*) filter (where a.usesysid = r.oid))
  from pg_stat_activity a where a.datid is not null and a.pid <> pg_backend_pid())`;

/** Time of the server's clock in unix milliseconds. */
export async function serverClockMs(db: Kysely<Tables>): Promise<number> {
  const now = sql<{ ms: number }>`select extract(epoch from clock_timestamp()) * 1000 as ms`;
  return Number((await now.execute(db)).rows[0]?.ms);
}
