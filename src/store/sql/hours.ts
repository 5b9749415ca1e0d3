import { sql, type Kysely } from 'kysely';
import { hourOf } from '../usage-range.js';
import {
  groupColumns,
  sumColumns,
  tokenColumns,
  type HourRecord,
  type LedgerRecord,
  type SumRecord,
  type Tables,
} from './tables.js';

/** Adds rows to the sums of their hours. */
export async function addToHours(db: Kysely<Tables>, rows: readonly LedgerRecord[]): Promise<void> {
  if (rows.length === 0) return;
  await db
    .insertInto('ledger_hours')
    .values([...sums(rows)])
    .onConflict((conflict) =>
      conflict
        .columns(['at', ...groupColumns])
        .doUpdateSet(
          Object.fromEntries(
            sumColumns.map((column) => [
              column,
              sql`${sql.ref(`ledger_hours.${column}`)} + ${sql.ref(`excluded.${column}`)}`,
            ]),
          ),
        ),
    )
    .execute();
}

/** In one order for all instances: two that lock the same hours in different orders would wait for each other. */
function sums(rows: readonly LedgerRecord[]): readonly HourRecord[] {
  const byGroup = new Map<string, HourRecord>();
  for (const row of rows) {
    const own = hourRecord(row);
    const group = JSON.stringify([own.at, ...groupColumns.map((column) => own[column])]);
    const known = byGroup.get(group);
    byGroup.set(group, known ? { ...known, ...added(known, own) } : own);
  }
  const ordered = [...byGroup].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return ordered.map(([, record]) => record);
}

function hourRecord(row: LedgerRecord): HourRecord {
  const columns = [...groupColumns, ...tokenColumns.flatMap(([, billed, shown]) => [billed, shown])] as const;
  const kept = Object.fromEntries(columns.map((column) => [column, row[column]]));
  const own = {
    at: hourOf(row.at),
    requests: 1,
    errors: row.failed,
    first_events: row.first_event_ms === null ? 0 : 1,
    first_event_ms_sum: row.first_event_ms ?? 0,
    duration_ms_sum: row.duration_ms,
  };
  return { ...kept, ...own } as HourRecord; // the columns of an hour, each from one of the two lists
}

/** The sums of two, column by column. */
export function added(first: SumRecord, second: SumRecord): SumRecord {
  return Object.fromEntries(
    sumColumns.map((column) => [column, first[column] + second[column]]),
  ) as SumRecord; // each column once
}
