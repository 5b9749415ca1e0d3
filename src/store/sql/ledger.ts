import type { Kysely } from 'kysely';
import type { Ledger, LedgerRow } from '../../plugin/index.js';
import { HourSums } from './hours.js';
import { RowInsert } from './insert-rows.js';
import { fromRecord, toRecord } from './ledger-record.js';
import { Pruning } from './pruning.js';
import { sqlRequests } from './requests.js';
import type { Tables } from './tables.js';
import { sqlUsage } from './usage.js';

/** The ledger in a table of rows and one of hourly sums, which each append brings up to date with its rows. */
export function sqlLedger(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Ledger {
  const most = mostAtOnce[dialect];
  const pruning = new Pruning();
  const tables = { rows: new RowInsert(), sums: new HourSums() };
  return {
    append: (rows) => append(db, tables, rows),
    usage: (query) => sqlUsage(db, query, most.summed),
    requests: (filter, page) => sqlRequests(db, filter, page, most.searched),
    async get({ atMs, id }) {
      const record = await db
        .selectFrom('ledger')
        .selectAll()
        .where('at', '=', atMs)
        .where('id', '=', id)
        .executeTakeFirst();
      return record && fromRecord(record);
    },
    prune: (beforeMs, limit) => pruning.run(db, beforeMs, limit),
  };
}

/** SQLite works in the thread that serves requests; with PostgreSQL it is the way there that takes time. */
const mostAtOnce = {
  sqlite: { summed: 3000, searched: 500 },
  postgres: { summed: 100_000, searched: 5000 },
} as const;

/** Rows that come twice are not summed twice. */
async function append(
  db: Kysely<Tables>,
  tables: { readonly rows: RowInsert; readonly sums: HourSums },
  rows: readonly LedgerRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const records = rows.map(toRecord);
  await db.transaction().execute(async (transaction) => {
    const ids = await tables.rows.run(transaction, records);
    await tables.sums.add(
      transaction,
      records.filter(({ id }) => ids.delete(id)),
    );
  });
}
