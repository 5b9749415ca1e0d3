import { sql, type Expression, type Kysely, type RawBuilder } from 'kysely';
import type { UsageQuery, UsageSum } from '../../plugin/index.js';
import { bucketsOf, groupColumnOf } from '../usage-range.js';
import { fromTokenRecord } from './ledger-record.js';
import { sumColumns, type SumRecord, type Tables } from './tables.js';

/** The sums by bucket and group: from the hours where the buckets are made of them, else from the rows. */
export async function sqlUsage(db: Kysely<Tables>, query: UsageQuery): Promise<readonly UsageSum[]> {
  const { fromMs, toMs, stepMs, isHourly } = bucketsOf(query);
  const group = query.by ? sql<string>`${sql.ref(groupColumnOf[query.by])}` : sql<string>`''`;
  // Literals: a number that is bound would be a real one to SQLite, and its division would not cut off.
  const bucket = sql<number>`${sql.lit(fromMs)} + ((at - ${sql.lit(fromMs)}) / ${sql.lit(stepMs)}) * ${sql.lit(stepMs)}`;
  const table = isHourly ? sql.table('ledger_hours') : sql.table('ledger');
  const columns = sumColumns.map(
    (column) => sql`sum(${isHourly ? sql.ref(column) : ofRow(column)}) as ${sql.ref(column)}`,
  );
  const ofKey = query.keyId === undefined ? sql`` : sql`and key_id = ${query.keyId}`;
  const most = query.limit === undefined ? sql`` : sql`limit ${sql.lit(query.limit)}`;
  const { rows } = await sql<SumRecord & { readonly bucket: number; readonly grouped: string }>`
    select ${bucket} as bucket, ${group} as grouped, ${sql.join(columns)} from ${table}
    where at >= ${fromMs} and at < ${toMs} ${ofKey} group by 1, 2 order by 1, 2 ${most}
  `.execute(db);
  return rows.map(toSum);
}

/** What one row adds to a sum. */
function ofRow(column: keyof SumRecord): Expression<number> {
  return fromRow[column] ?? sql.ref<number>(column);
}

const fromRow: Partial<Record<keyof SumRecord, RawBuilder<number>>> = {
  requests: sql`1`,
  errors: sql`failed`,
  first_events: sql`case when first_event_ms is null then 0 else 1 end`,
  first_event_ms_sum: sql`coalesce(first_event_ms, 0)`,
  duration_ms_sum: sql`duration_ms`,
};

function toSum(record: SumRecord & { readonly bucket: number; readonly grouped: string }): UsageSum {
  return {
    atMs: record.bucket,
    group: record.grouped,
    requests: record.requests,
    errors: record.errors,
    ...fromTokenRecord(record),
    firstEvents: record.first_events,
    firstEventMsSum: record.first_event_ms_sum,
    durationMsSum: record.duration_ms_sum,
  };
}
