import { setImmediate as breath } from 'node:timers/promises';
import type { Kysely, RawBuilder } from 'kysely';
import type { LatencyMeasure, LatencySum, UsageQuery } from '../../plugin/internal.js';
import { addCount, addLatency, LatencyGroups } from '../../ledger/latency.js';
import { latencyReading, type LatencyReading } from '../../ledger/latency-reading.js';
import { bucketsOf, conditionsOf, groupColumnOf, type ColumnGroup } from '../../ledger/usage.js';
import {
  endOfPart,
  plainSource,
  searchedSource,
  searchFor,
  timesWithin,
  type PartSource,
} from './ledger-search.js';
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
  const { isHourly } = bucketsOf(query);
  const reading = latencyReading(query, isHourly);
  if (!reading) return [];
  const groups = new LatencyGroups();
  const { except } = reading.from === 'counts' ? reading : {};
  if (except) await readParts(db, await rowSource(db, except, -1), { query, groups, partSize });
  const source = reading.from === 'counts' ? hourSource(query.by, reading) : await rowSource(db, query, 1);
  await readParts(db, source, { query, groups, partSize });
  return groups.sums();
}

interface Reading {
  readonly query: UsageQuery;
  readonly groups: LatencyGroups;
  readonly partSize: number;
}

async function readParts(
  db: Kysely<Tables>,
  source: Source,
  { query, groups, partSize }: Reading,
): Promise<void> {
  const span = bucketsOf(query);
  for (let startMs = span.fromMs; startMs < span.toMs;) {
    const endMs = await endOfPart(db, source, { toMs: span.toMs, startMs, partSize });
    await source.read(db, { ...span, startMs, endMs }, groups);
    startMs = endMs;
    if (startMs < span.toMs) await breath();
  }
}

interface Part {
  /** Start of the first bucket. */
  readonly fromMs: number;
  readonly stepMs: number;
  readonly startMs: number;
  readonly endMs: number;
}

interface Source extends PartSource {
  read(db: Kysely<Tables>, part: Part, groups: LatencyGroups): Promise<void>;
}

function hourSource(by: UsageQuery['by'], { kind, name }: Counts): Source {
  const where = name === undefined ? sql`kind = ${kind}` : sql`kind = ${kind} and name = ${name}`;
  const source = plainSource(sql.table('ledger_latency'), where);
  const group = by === null ? sql<string>`''` : sql<string>`name`;
  return {
    ...source,
    async read(db, part, groups) {
      const { rows } = await sql<CountRecord>`
        select ${bucketStart(part)} as start, ${group} as grouped, measure, bucket, sum(count) as count
        from ${source.from(timesWithin(part.startMs, part.endMs))} group by 1, 2, 3, 4
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

/** Times of the rows of a query, which are added or taken away. */
async function rowSource(db: Kysely<Tables>, query: UsageQuery, count: 1 | -1): Promise<Source> {
  const { fromMs, toMs } = bucketsOf(query);
  const source = searchedSource(await searchFor(db, { ...conditionsOf(query), fromMs, toMs }));
  const by = query.by as ColumnGroup | null; // the others have no times
  const group = by === null ? sql<string>`''` : sql.ref<string>(groupColumnOf[by]);
  return {
    ...source,
    async read(within, part, groups) {
      const { rows } = await sql<TimesRecord>`
        select ${bucketStart(part)} as start, ${group} as grouped, attempts, duration_ms, first_event_ms,
          first_token_ms, output_ms, queue_ms, output_tokens
        from ${source.from(timesWithin(part.startMs, part.endMs))}
      `.execute(within);
      for (const row of rows) addLatency(groups.of(row.start, row.grouped), timesOf(row), count);
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
