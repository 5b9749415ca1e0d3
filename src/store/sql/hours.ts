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
  const byGroup = new Map<string, Sum>();
  for (const row of rows) {
    const group = JSON.stringify([hourOf(row.at), row.key_id, row.slot, row.model, row.format]);
    const sum = byGroup.get(group) ?? emptySum(row);
    byGroup.set(group, sum);
    addRow(sum, row);
  }
  const ordered = [...byGroup].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return ordered.map(([, sum]) => sum);
}

type Sum = { -readonly [Column in keyof HourRecord]: HourRecord[Column] };

const countedColumns = tokenColumns.flatMap(([, billed, shown]) => [billed, shown]);

function emptySum({ at, key_id, slot, model, format }: LedgerRecord): Sum {
  const zeros = Object.fromEntries(sumColumns.map((column) => [column, 0])) as SumRecord; // each column once
  return { at: hourOf(at), key_id, slot, model, format, ...zeros };
}

function addRow(sum: Sum, row: LedgerRecord): void {
  sum.requests += 1;
  sum.errors += row.failed;
  sum.first_events += row.first_event_ms === null ? 0 : 1;
  sum.first_event_ms_sum += row.first_event_ms ?? 0;
  sum.duration_ms_sum += row.duration_ms;
  for (const column of countedColumns) sum[column] += row[column];
}
