import { sql, type Kysely } from 'kysely';
import type { Ledger, LedgerFilter, LedgerRow } from '../../plugin/index.js';
import { readCursor, writeCursor } from '../cursor.js';
import { addToHours } from './hours.js';
import { RowInsert } from './insert-rows.js';
import { fromRecord, toRecord } from './ledger-record.js';
import { hourOf } from '../usage-range.js';
import { listedColumns, type Tables } from './tables.js';
import { sqlUsage } from './usage.js';

/** The ledger in a table of rows and one of hourly sums, which each append brings up to date with its rows. */
export function sqlLedger(db: Kysely<Tables>): Ledger {
  const insert = new RowInsert();
  return {
    append: (rows) => append(db, insert, rows),
    usage: (query) => sqlUsage(db, query),
    async requests(filter, { cursor, limit }) {
      let query = db.selectFrom('ledger').select(listedColumns);
      for (const [column, operator, value] of conditions(filter))
        query = query.where(column, operator, value);
      if (cursor !== undefined) {
        const { atMs, id } = readCursor(cursor);
        query = query.where(sql<boolean>`(at, id) < (${atMs}, ${id})`);
      }
      const size = Math.min(limit, 1000);
      const records = await query
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
        .limit(size + 1)
        .execute();
      const rows = records.slice(0, size).map(fromRecord);
      const last = rows.at(-1);
      return { rows, ...(records.length > size && last && { cursor: writeCursor(last) }) };
    },
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
      await deleteFirst(db, 'ledger_hours', sql`at, key_id, slot, model, format`, hour, limit);
      return deleteFirst(db, 'ledger', sql`at, id`, hour, limit);
    },
  };
}

/** Rows that come twice are not summed twice. */
async function append(db: Kysely<Tables>, insert: RowInsert, rows: readonly LedgerRow[]): Promise<void> {
  if (rows.length === 0) return;
  const records = rows.map(toRecord);
  await db.transaction().execute(async (transaction) => {
    const ids = await insert.run(transaction, records);
    await addToHours(
      transaction,
      records.filter(({ id }) => ids.delete(id)),
    );
  });
}

type Column = 'at' | 'key_id' | 'slot' | 'model' | 'format' | 'status' | 'code' | 'failed' | 'request_id';
type Condition = readonly [column: Column, operator: '=' | '>=' | '<', value: string | number];

function conditions(filter: LedgerFilter): readonly Condition[] {
  const { fromMs, toMs, keyId, slot, model, format, status, code, failed, requestId } = filter;
  const all: readonly (readonly [Column, Condition[1], string | number | undefined])[] = [
    ['at', '>=', fromMs],
    ['at', '<', toMs],
    ['key_id', '=', keyId],
    ['slot', '=', slot],
    ['model', '=', model],
    ['format', '=', format],
    ['status', '=', status],
    ['code', '=', code],
    ['failed', '=', failed === undefined ? undefined : Number(failed)],
    ['request_id', '=', requestId],
  ];
  return all.flatMap(([column, operator, value]) =>
    value === undefined ? [] : [[column, operator, value] as const],
  );
}

async function deleteFirst(
  db: Kysely<Tables>,
  table: 'ledger' | 'ledger_hours',
  primaryKey: ReturnType<typeof sql>,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from ${sql.table(table)} where (${primaryKey}) in
      (select ${primaryKey} from ${sql.table(table)} where at < ${beforeMs} order by at limit ${limit})
  `.execute(db);
  return Number(numAffectedRows);
}
