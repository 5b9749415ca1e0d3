import type { Kysely } from 'kysely';
import type { Ledger, LedgerRow, UsageGroup } from '../../plugin/index.js';
import { HourSums } from './hours.js';
import { RowInsert } from './insert-rows.js';
import { fromRecord, toRecord } from './ledger-record.js';
import { hourOf } from '../usage-range.js';
import { sqlRequests } from './requests.js';
import { groupKinds, type Tables } from './tables.js';
import { sqlUsage } from './usage.js';
import { sql } from './kysely.js';

/** The ledger in a table of rows and one of hourly sums, which each append brings up to date with its rows. */
export function sqlLedger(db: Kysely<Tables>): Ledger {
  const tables = { rows: new RowInsert(), sums: new HourSums() };
  return {
    append: (rows) => append(db, tables, rows),
    usage: (query) => sqlUsage(db, query),
    requests: (filter, page) => sqlRequests(db, filter, page),
    async get({ atMs, id }) {
      const record = await db
        .selectFrom('ledger')
        .selectAll()
        .where('at', '=', atMs)
        .where('id', '=', id)
        .executeTakeFirst();
      return record && fromRecord(record);
    },
    async prune(beforeMs, limit) {
      const hour = hourOf(beforeMs);
      for (const [kind] of groupKinds) await deleteSums(db, kind, hour, limit);
      return deleteRows(db, hour, limit);
    },
  };
}

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

/** Neither database deletes with a limit by itself, so that a query for the primary keys sets it. */
async function deleteRows(db: Kysely<Tables>, beforeMs: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ledger where (at, id) in
      (select at, id from ledger where at < ${beforeMs} order by at limit ${limit})
  `.execute(db);
  return Number(numAffectedRows);
}

async function deleteSums(
  db: Kysely<Tables>,
  kind: UsageGroup,
  beforeMs: number,
  limit: number,
): Promise<void> {
  await sql`
    delete from ledger_sums where (kind, at, name) in
      (select kind, at, name from ledger_sums where kind = ${sql.lit(kind)} and at < ${beforeMs} order by at limit ${limit})
  `.execute(db);
}
