import type { Kysely } from 'kysely';
import { hourOf } from '../usage-range.js';
import { PreparedParts } from './insert-rows.js';
import {
  groupKinds,
  sumColumns,
  tokenColumns,
  type HourRecord,
  type LedgerRecord,
  type SumRecord,
  type Tables,
} from './tables.js';
import { sql } from './kysely.js';

/** Adds rows to the sums of their hours: one of each group that they belong to. */
export class HourSums {
  readonly #upsert = new PreparedParts<HourRecord, never>(buildUpsert);

  async add(db: Kysely<Tables>, rows: readonly LedgerRecord[]): Promise<void> {
    await this.#upsert.run(db, sumsOf(rows));
  }
}

function buildUpsert(db: Kysely<Tables>, records: readonly HourRecord[]) {
  const sums = sumColumns.map((column) => [
    column,
    sql`${sql.ref(`ledger_sums.${column}`)} + ${sql.ref(`excluded.${column}`)}`,
  ]);
  return db
    .insertInto('ledger_sums')
    .values(records)
    .onConflict((conflict) => conflict.columns(['kind', 'at', 'name']).doUpdateSet(Object.fromEntries(sums)));
}

/** In one order for all instances: two that lock the same hours in different orders would wait for each other. */
function sumsOf(rows: readonly LedgerRecord[]): readonly HourRecord[] {
  const byGroup = new Map<string, Sum>();
  for (const row of rows)
    for (const [kind, column] of groupKinds) {
      const group = `${kind} ${hourOf(row.at)} ${row[column]}`;
      const sum = byGroup.get(group) ?? emptySum(kind, row.at, row[column]);
      byGroup.set(group, sum);
      addRow(sum, row);
    }
  const ordered = [...byGroup].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return ordered.map(([, sum]) => sum);
}

type Sum = { -readonly [Column in keyof HourRecord]: HourRecord[Column] };

const countedColumns = tokenColumns.flatMap(([, billed, shown]) => [billed, shown]);

function emptySum(kind: HourRecord['kind'], at: number, name: string): Sum {
  const zeros = Object.fromEntries(sumColumns.map((column) => [column, 0])) as SumRecord; // each column once
  return { kind, at: hourOf(at), name, ...zeros };
}

function addRow(sum: Sum, row: LedgerRecord): void {
  sum.requests += 1;
  sum.errors += row.failed;
  sum.first_events += row.first_event_ms === null ? 0 : 1;
  sum.first_event_ms_sum += row.first_event_ms ?? 0;
  sum.duration_ms_sum += row.duration_ms;
  for (const column of countedColumns) sum[column] += row[column];
}
