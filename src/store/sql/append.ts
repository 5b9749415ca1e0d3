import type { Kysely } from 'kysely';
import type { Combination } from '../../ledger/combination.js';
import type { LedgerRow } from '../../plugin/internal.js';
import { combinationsOf, sumInsert, sumsOf } from './hours.js';
import { latencyCountsOf, latencyInsert } from './latency-counts.js';
import { PreparedInsert, type InsertPart } from './insert-rows.js';
import { writeRow } from './ledger-record.js';
import { writtenColumns, type Tables } from './tables.js';
import type { ThreadConnection } from './thread-dialect.js';
import { CompiledQuery, sql } from './kysely.js';

type Append = (rows: readonly LedgerRow[]) => Promise<void>;

/** Appends rows to the ledger and to the hourly sums, in one transaction; duplicates count once. */
export function appendWith(db: Kysely<Tables>): Append {
  const insert = rowInsert(sql`on conflict do nothing returning id`);
  const increments = incrementsOf();
  return async (rows) =>
    db.transaction().execute(async (transaction) => {
      const ids = new Set<string>(); // rows that the database reports as new
      for (const part of insert.of(db, rows)) {
        const { rows: inserted } = await transaction.executeQuery<{ readonly id: string }>(queryOf(part));
        for (const { id } of inserted) ids.add(id);
      }
      const added = combinationsOf(rows.filter(({ id }) => ids.delete(id)));
      for (const part of increments(db, added)) await transaction.executeQuery(queryOf(part));
    });
}

/**
 * Same in a SQLite file, in one message to its thread. Duplicate rows are rare: if the count of inserted rows
 * shows some, all is rolled back and repeated with the ids of the new rows.
 */
export function appendInOneMessage(db: Kysely<Tables>): Append {
  const insert = rowInsert(sql`on conflict do nothing`);
  const increments = incrementsOf();
  const appendKnown = appendWith(db);
  return async (rows) => {
    const rest = increments(db, combinationsOf(rows));
    const batch = { checked: insert.of(db, rows), changes: rows.length, rest };
    const areNew = await db.getExecutor().provideConnection(
      (connection) => (connection as ThreadConnection).write(batch), // the SQLite dialect opens only these
    );
    if (!areNew) await appendKnown(rows);
  };
}

/** Statements that add to the hourly sums and to the counts of times. */
function incrementsOf(): (db: Kysely<Tables>, added: readonly Combination[]) => readonly InsertPart[] {
  const [sums, latency] = [sumInsert(), latencyInsert()];
  return (db, added) => [...sums.of(db, sumsOf(added)), ...latency.of(db, latencyCountsOf(added))];
}

function queryOf<Row>({ sql: text, parameters }: InsertPart): CompiledQuery<Row> {
  return CompiledQuery.raw(text, [...parameters]);
}

function rowInsert(tail: ReturnType<typeof sql>): PreparedInsert<LedgerRow> {
  return new PreparedInsert({ table: 'ledger', columns: writtenColumns, tail, write: writeRow });
}
