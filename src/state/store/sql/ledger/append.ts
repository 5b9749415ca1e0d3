import { CompiledQuery, sql, type Kysely } from 'kysely';
import type { Combination } from '../../../ledger/combination.js';
import type { AppendedRow, LedgerRow } from '../../../ledger/contract.js';
import type { Logger } from '../../../../plugin/index.js';
import { errorTextInsert } from './error-texts.js';
import { combinationsOf, sumInsert, sumsOf } from './hours.js';
import { latencyCountsOf, latencyInsert } from './latency-counts.js';
import { PreparedInsert, type InsertPart } from './insert-rows.js';
import { writeRow, writtenColumns } from '../../../ledger/columns.js';
import type { Tables } from '../tables/tables.js';
import type { ThreadConnection } from '../sqlite/thread-dialect.js';

type Append = (rows: readonly AppendedRow[]) => Promise<void>;

/** Appends rows to the ledger and to the hourly sums, in one transaction; duplicates count once. */
export function appendWith(db: Kysely<Tables>): Append {
  const insert = rowInsert(sql`on conflict do nothing returning id`);
  const increments = incrementsOf();
  const errorTexts = errorTextInsert();
  return async (rows) =>
    db.transaction().execute(async (transaction) => {
      const ids = new Set<string>(); // rows that the database reports as new
      for (const part of insert.of(db, rows)) {
        const { rows: inserted } = await transaction.executeQuery<{ readonly id: string }>(queryOf(part));
        for (const { id } of inserted) ids.add(id);
      }
      const added = combinationsOf(rows.filter(({ id }) => ids.delete(id)));
      for (const part of increments(db, added)) await transaction.executeQuery(queryOf(part));
      for (const part of errorTexts.of(db, rows.filter(hasErrorTexts)))
        await transaction.executeQuery(queryOf(part));
    });
}

/**
 * Same in a SQLite file, in one message to its thread. Duplicate rows are rare: if the count of inserted rows
 * shows some, all is rolled back and repeated with the ids of the new rows.
 */
export function appendInOneMessage(db: Kysely<Tables>): Append {
  const insert = rowInsert(sql`on conflict do nothing`);
  const increments = incrementsOf();
  const errorTexts = errorTextInsert();
  const appendKnown = appendWith(db);
  return async (rows) => {
    const texts = errorTexts.of(db, rows.filter(hasErrorTexts));
    const rest = [...increments(db, combinationsOf(rows)), ...texts];
    const batch = { checked: insert.of(db, rows), changes: rows.length, rest };
    const areNew = await db.getExecutor().provideConnection(
      (connection) => (connection as ThreadConnection).write(batch), // the SQLite dialect opens only these
    );
    if (!areNew) await appendKnown(rows);
  };
}

/**
 * Retries refused rows without their error texts, which never keep a row from the ledger; then retries the texts, as
 * the fault may have been a different, temporary one. Does not log the error itself, as it may quote a text.
 */
export function withOptionalTexts(append: Append, log: Logger): Append {
  return async (rows) => {
    try {
      await append(rows);
    } catch (error) {
      if (!rows.some(hasErrorTexts)) throw error;
      await append(rows.map(({ errorTexts: _, ...row }) => row));
      await append(rows.filter(hasErrorTexts)).catch((refusal: { readonly code?: unknown }) => {
        const { code } = refusal; // databases throw errors, most with a code
        log.warn({ code }, 'Error texts of requests could not be written; their rows are.');
      });
    }
  };
}

function hasErrorTexts({ errorTexts }: AppendedRow): boolean {
  return errorTexts !== undefined;
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
