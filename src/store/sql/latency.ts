import { setImmediate as breath } from 'node:timers/promises';
import type { Kysely, RawBuilder } from 'kysely';
import type { LatencyMeasure, LatencySum, UsageQuery } from '../../plugin/internal.js';
import { addCount, addLatency, LatencyGroups } from '../../ledger/latency.js';
import { latencyReading, type LatencyReading } from '../../ledger/latency-reading.js';
import { bucketsOf, conditionsOf, groupColumnOf, type ColumnGroup } from '../../ledger/usage.js';
import { allOf, rowConditions } from './conditions.js';
import type { Tables } from './tables.js';
import { sql } from './kysely.js';

/**
 * Percentiles by bucket of time and group, from the hourly counts or from the rows. About `partSize` of them at a
 * time.
 */
export async function sqlLatency(
  db: Kysely<Tables>,
  query: UsageQuery,
  partSize: number,
): Promise<readonly LatencySum[]> {
  const { isHourly, ...span } = bucketsOf(query);
  const reading = latencyReading(query, isHourly);
  if (!reading) return [];
  const source = reading.from === 'counts' ? hourSource(query.by, reading) : rowSource(query, reading.group);
  const groups = new LatencyGroups();
  for (let startMs = span.fromMs; startMs < span.toMs;) {
    const part = { ...span, startMs, endMs: await endOfPart(db, source, { ...span, startMs, partSize }) };
    await source.read(db, part, groups);
    startMs = part.endMs;
    if (startMs < span.toMs) await breath();
  }
  return groups.sums();
}

interface Part {
  /** Start of the first bucket. */
  readonly fromMs: number;
  readonly stepMs: number;
  readonly startMs: number;
  readonly endMs: number;
}

interface Source {
  readonly table: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  read(db: Kysely<Tables>, part: Part, groups: LatencyGroups): Promise<void>;
}

function hourSource(by: UsageQuery['by'], { kind, name }: Counts): Source {
  const where = name === undefined ? sql`kind = ${kind}` : sql`kind = ${kind} and name = ${name}`;
  return {
    table: sql.table('ledger_latency'),
    where,
    async read(db, part, groups) {
      const group = by === null ? sql<string>`''` : sql<string>`name`;
      const { rows } = await sql<CountRecord>`
        select ${bucketStart(part)} as start, ${group} as grouped, measure, bucket, sum(count) as count
        from ledger_latency where ${where} and ${within(part)} group by 1, 2, 3, 4
      `.execute(db);
      for (const { start, grouped, ...count } of rows) addCount(groups.of(start, grouped), count);
    },
  };
}

type Counts = Extract<LatencyReading, { readonly from: 'counts' }>;

interface CountRecord {
  readonly start: number;
  readonly grouped: string;
  readonly measure: LatencyMeasure;
  readonly bucket: number;
  readonly count: number;
}

function rowSource(query: UsageQuery, by: ColumnGroup | null): Source {
  const where = allOf(rowConditions(conditionsOf(query)));
  const group = by === null ? sql<string>`''` : sql.ref<string>(groupColumnOf[by]);
  return {
    table: sql.table('ledger'),
    where,
    async read(db, part, groups) {
      const { rows } = await sql<TimesRecord>`
        select ${bucketStart(part)} as start, ${group} as grouped, attempts, duration_ms, first_event_ms,
          first_token_ms, output_ms, queue_ms, output_tokens
        from ledger where ${where} and ${within(part)}
      `.execute(db);
      for (const row of rows) addLatency(groups.of(row.start, row.grouped), timesOf(row));
    },
  };
}

interface TimesRecord {
  readonly start: number;
  readonly grouped: string;
  readonly attempts: number;
  readonly duration_ms: number;
  readonly first_event_ms: number | null;
  readonly first_token_ms: number | null;
  readonly output_ms: number | null;
  readonly queue_ms: number | null;
  readonly output_tokens: number;
}

function timesOf(row: TimesRecord): Parameters<typeof addLatency>[1] {
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

/** Literals: SQLite takes a bound number for a real one, whose division does not truncate. */
function bucketStart({ fromMs, stepMs }: Part): RawBuilder<number> {
  const [from, step] = [sql.lit(fromMs), sql.lit(stepMs)];
  return sql<number>`${from} + ((at - ${from}) / ${step}) * ${step}`;
}

function within({ startMs, endMs }: Pick<Part, 'startMs' | 'endMs'>): RawBuilder<unknown> {
  return sql`at >= ${startMs} and at < ${endMs}`;
}

interface Rest {
  readonly startMs: number;
  readonly toMs: number;
  readonly partSize: number;
}

/** End of the next part, by its max number of counts or rows; at least one millisecond later. */
async function endOfPart(
  db: Kysely<Tables>,
  { table, where }: Source,
  { startMs, toMs, partSize }: Rest,
): Promise<number> {
  const { rows } = await sql<{ readonly at: number }>`
    select at from ${table} where ${where} and ${within({ startMs, endMs: toMs })}
    order by at limit 1 offset ${sql.lit(partSize)}
  `.execute(db);
  return Math.max(startMs + 1, rows[0]?.at ?? toMs);
}
