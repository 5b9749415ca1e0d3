import type { Dialect, Driver, Kysely, QueryCompiler, QueryResult } from 'kysely';
import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from './kysely.js';
import type { Result } from './libsql-connection.js';

/** SQLite's dialect but for the driver. */
export abstract class SqliteDialect implements Dialect {
  abstract createDriver(): Driver;

  createQueryCompiler(): QueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter() {
    return new SqliteAdapter();
  }

  createIntrospector(db: Kysely<unknown>) {
    return new SqliteIntrospector(db);
  }
}

export function toQueryResult<Row>({ rows, changes }: Result): QueryResult<Row> {
  const read = { rows: rows as Row[] }; // the query's own type
  return changes === undefined ? read : { ...read, numAffectedRows: BigInt(changes) };
}
