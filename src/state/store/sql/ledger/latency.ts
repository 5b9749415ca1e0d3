import { sql, type Kysely } from 'kysely';
import type { LatencySum } from '../../../ledger/contract.js';
import type { UsageQuery } from '../../../../plugin/core.js';
import {
  addCount,
  addLatency,
  LatencyGroups,
  type LatencyCount,
  type TimedRow,
} from '../../../ledger/latency/latency.js';
import { latencyReading, type LatencyReading } from '../../../ledger/latency/latency-reading.js';
import type { LedgerRecord } from '../../../ledger/columns.js';
import { groupColumnOf, type ColumnGroup } from '../../../ledger/groups.js';
import { bucketsOf, conditionsOf } from '../../../ledger/usage-query.js';
import { kindCondition } from './conditions.js';
import { searchFor } from './ledger-search.js';
import {
  groupedBy,
  inPart,
  partsOf,
  placeColumns,
  placeOf,
  plainSource,
  searchedSource,
  type Dialect,
  type PlaceRecord,
} from './parts.js';
import type { Tables } from '../tables/tables.js';

/** Percentiles by bucket of time and group, from the hourly counts or from the rows. */
export async function sqlLatency(
  db: Kysely<Tables>,
  query: UsageQuery,
  options: LatencyOptions,
): Promise<readonly LatencySum[]> {
  const reading = latencyReading(query, bucketsOf(query).isHourly);
  if (!reading) return [];
  const groups = new LatencyGroups();
  const isCounted = reading.from === 'counts';
  if (isCounted && reading.except) await readRows(db, reading.except, { ...options, groups, count: -1 });
  if (isCounted) await readCounts(db, query, { ...options, groups, reading });
  else await readRows(db, query, { ...options, groups, count: 1 });
  return groups.sums();
}

interface LatencyOptions {
  readonly dialect: Dialect;
  /** Max counts, and rows, read at a time. */
  readonly partSize: { readonly counts: number; readonly rows: number };
}

interface CountReading extends LatencyOptions {
  readonly groups: LatencyGroups;
  readonly reading: Extract<LatencyReading, { readonly from: 'counts' }>;
}

async function readCounts(
  db: Kysely<Tables>,
  query: UsageQuery,
  { groups, reading: { kind, name }, partSize }: CountReading,
): Promise<void> {
  const source = plainSource(sql.table('ledger_latency'), kindCondition(kind, name));
  const group = query.by === null ? null : sql<string>`name`;
  for await (const part of partsOf(db, source, bucketsOf(query), partSize.counts)) {
    const places = placeColumns(part, group);
    const { rows } = await sql<LatencyCount & PlaceRecord>`
      select ${sql.join([...places, sql`measure`, sql`bucket`])}, sum(count) as count
      from ${source.from(inPart(part))} ${groupedBy(places.length + 2)}
    `.execute(db);
    for (const row of rows) addCount(groups.of(...placeOf(row, part)), row);
  }
}

interface RowReading extends LatencyOptions {
  readonly groups: LatencyGroups;
  /** -1: subtracts the times of the rows. */
  readonly count: 1 | -1;
}

async function readRows(
  db: Kysely<Tables>,
  query: UsageQuery,
  { groups, dialect, partSize, count }: RowReading,
): Promise<void> {
  const span = bucketsOf(query);
  const { fromMs, toMs } = span;
  const source = searchedSource(await searchFor(db, { ...conditionsOf(query), fromMs, toMs }), dialect);
  const by = query.by as ColumnGroup | null; // the others have no times
  const group = by && sql.ref<string>(groupColumnOf[by]);
  for await (const part of partsOf(db, source, span, partSize.rows)) {
    const { rows } = await sql<TimesRecord & PlaceRecord>`
      select ${sql.join([...placeColumns(part, group), ...timeColumns.map((column) => sql.ref(column))])}
      from ${source.from(inPart(part))}
    `.execute(db);
    for (const row of rows) addLatency(groups.of(...placeOf(row, part)), timesOf(row), count);
  }
}

const timeColumns = [
  'attempts',
  'duration_ms',
  'first_event_ms',
  'first_token_ms',
  'output_ms',
  'queue_ms',
  'output_tokens',
] as const satisfies readonly (keyof LedgerRecord)[];

type TimesRecord = Pick<LedgerRecord, (typeof timeColumns)[number]>;

function timesOf(row: TimesRecord): TimedRow {
  return {
    attempts: row.attempts,
    durationMs: row.duration_ms,
    billed: { output: row.output_tokens },
    ...(row.first_event_ms !== null && { firstEventMs: row.first_event_ms }),
    ...(row.first_token_ms !== null && { firstTokenMs: row.first_token_ms }),
    ...(row.output_ms !== null && { outputMs: row.output_ms }),
    ...(row.queue_ms !== null && { queueMs: row.queue_ms }),
  };
}
