import { sql, type Kysely } from 'kysely';
import type { AppendedRow, LedgerRowKey } from '../../../ledger/contract.js';
import type { ErrorTexts, ErrorTextStore } from '../../../ledger/error-texts.js';
import { PreparedInsert } from './insert-rows.js';
import { deleteRows } from './pruning.js';
import type { Tables } from '../tables/tables.js';
import { stepResult } from '../../../step-result.js';

/** Table of error texts, beside the ledger: its rows are deleted long before those of the ledger. */
export async function ledgerErrorsTable(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  const table = db.schema
    .createTable('ledger_errors')
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('texts', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('ledger_errors_pk', ['at', 'id']);
  await (dialect === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table).execute();
}

/** Inserts the error texts of rows; those that are there already stay. */
export function errorTextInsert(): PreparedInsert<AppendedRow> {
  return new PreparedInsert({
    table: 'ledger_errors',
    columns: ['at', 'id', 'texts'],
    tail: sql`on conflict do nothing`,
    write: ({ atMs, id, errorTexts }, values) => void values.push(atMs, id, JSON.stringify(errorTexts)),
  });
}

/** Error texts, which the ledger writes with its rows. */
export function sqlErrorTexts(db: Kysely<Tables>): ErrorTextStore {
  let fromMs = 0;
  return {
    async find(rows) {
      const found = new Map<string, ErrorTexts>();
      for (let at = 0; at < rows.length; at += maxLookedUp)
        for (const [id, texts] of await lookUp(db, rows.slice(at, at + maxLookedUp))) found.set(id, texts);
      return found;
    },
    async prune(beforeMs, limit) {
      const deleted = await deleteRows(db, 'ledger_errors', { fromMs, toMs: beforeMs, limit });
      const step = stepResult(deleted.length, limit);
      fromMs = step.isDone ? 0 : Math.max(...deleted);
      return step;
    },
  };
}

/** Rows of one query: databases limit the number of its parameters. */
const maxLookedUp = 500;

async function lookUp(
  db: Kysely<Tables>,
  rows: readonly LedgerRowKey[],
): Promise<readonly (readonly [string, ErrorTexts])[]> {
  const timeOf = new Map(rows.map(({ id, atMs }) => [id, atMs]));
  const times = [...timeOf.values()];
  const records = await db
    .selectFrom('ledger_errors')
    .selectAll()
    .where('at', '>=', Math.min(...times))
    .where('at', '<=', Math.max(...times))
    .where('id', 'in', [...timeOf.keys()])
    .execute();
  return records
    .filter(({ id, at }) => timeOf.get(id) === at)
    .map(({ id, texts }) => [id, JSON.parse(texts) as ErrorTexts]); // as written
}
