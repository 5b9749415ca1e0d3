import { setImmediate as breath } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { UsageQuery, UsageSum } from '../../plugin/internal.js';
import {
  addSums,
  answeredOf,
  bucketsOf,
  conditionsOf,
  hourlyGroup,
  subtractSums,
} from '../../ledger/usage.js';
import { endOfPart, searchFor, timesWithin } from './ledger-search.js';
import { fromTokenRecord } from './ledger-record.js';
import type { SumRecord, Tables } from './tables.js';
import { hourSource, rowSource, type Dialect, type UsageSource } from './usage-source.js';
import { sql } from './kysely.js';

/**
 * Sums by bucket and group, from the hourly table if it fits the buckets, else from the rows. About
 * `partSize` rows at a time.
 */
export async function sqlUsage(
  db: Kysely<Tables>,
  query: UsageQuery,
  reading: UsageReading,
): Promise<readonly UsageSum[]> {
  const answered = answeredOf(query);
  if (answered) {
    const failed = await sqlUsage(db, answered.failed, reading); // first: what fails meanwhile must be among all
    return subtractSums(await sqlUsage(db, answered.all, reading), failed);
  }
  const { fromMs, toMs, stepMs, isHourly } = bucketsOf(query);
  const hours = isHourly ? hourlyGroup(query) : undefined;
  const source = hours
    ? hourSource(query, hours)
    : rowSource(query, reading.dialect, await searchFor(db, { ...conditionsOf(query), fromMs, toMs }));
  const open = new Map<string, UsageSum>();
  const complete: UsageSum[] = [];
  const { limit = Infinity } = query;
  for (let startMs = fromMs; startMs < toMs && complete.length < limit;) {
    const countedMs = await endOfPart(db, source, { startMs, toMs, partSize: reading.partSize });
    const part = partOf({ fromMs, stepMs }, startMs, countedMs);
    for (const sum of await sumsIn(db, source, part)) add(open, sum);
    const openFromMs = part.endMs < toMs ? part.endMs - ((part.endMs - fromMs) % stepMs) : Infinity;
    complete.push(...takeBefore(openFromMs, open));
    startMs = part.endMs;
    if (startMs < toMs) await breath();
  }
  return complete.slice(0, query.limit);
}

interface UsageReading {
  /** Max rows read at a time. */
  readonly partSize: number;
  readonly dialect: Dialect;
}

/** Takes the sums of earlier buckets out of those that a further part may add to, in their order. */
function takeBefore(openFromMs: number, open: Map<string, UsageSum>): readonly UsageSum[] {
  const taken = [...open].filter(([, { atMs }]) => atMs < openFromMs);
  for (const [key] of taken) open.delete(key);
  return taken.map(([, sum]) => sum).toSorted((a, b) => a.atMs - b.atMs || (a.group < b.group ? -1 : 1));
}

interface Part {
  /** Start of the first bucket. */
  readonly fromMs: number;
  readonly stepMs: number;
  readonly startMs: number;
  readonly endMs: number;
  /** Start of its only bucket, if it has no other. */
  readonly bucketMs: number | undefined;
}

/** Part of the counted rows; it ends with its bucket if that is not far away: rows of one bucket need no sorting. */
function partOf(
  { fromMs, stepMs }: Pick<Part, 'fromMs' | 'stepMs'>,
  startMs: number,
  countedMs: number,
): Part {
  const bucketMs = startMs - ((startMs - fromMs) % stepMs);
  const nextMs = bucketMs + stepMs;
  const endMs = countedMs <= nextMs + stepMs ? Math.min(countedMs, nextMs) : countedMs;
  return { fromMs, stepMs, startMs, endMs, bucketMs: endMs <= nextMs ? bucketMs : undefined };
}

async function sumsIn(
  db: Kysely<Tables>,
  { from, group, sums }: UsageSource,
  { fromMs, stepMs, startMs, endMs, bucketMs }: Part,
): Promise<readonly UsageSum[]> {
  // Literals: SQLite takes a bound number for a real one, whose division does not truncate.
  const bucket = sql<number>`${sql.lit(fromMs)} + ((at - ${sql.lit(fromMs)}) / ${sql.lit(stepMs)}) * ${sql.lit(stepMs)}`;
  const groups = [
    ...(bucketMs === undefined ? [sql`${bucket} as bucket`] : []),
    ...(group ? [sql`${group} as grouped`] : []),
  ];
  const grouping =
    groups.length === 0 ? sql`` : sql`group by ${sql.join(groups.map((_, at) => sql.lit(at + 1)))}`;
  const { rows } = await sql<SumRecord & { readonly bucket?: number; readonly grouped?: string }>`
    select ${sql.join([...groups, sums])} from ${from(timesWithin(startMs, endMs))} ${grouping} having count(*) > 0
  `.execute(db);
  return rows.map((row) => toSum(row, row.bucket ?? bucketMs ?? startMs, row.grouped ?? ''));
}

/** A bucket may be cut by the parts. */
function add(sums: Map<string, UsageSum>, sum: UsageSum): void {
  const key = `${sum.atMs} ${sum.group}`;
  const known = sums.get(key);
  sums.set(key, known ? addSums(known, sum) : sum);
}

function toSum(record: SumRecord, atMs: number, group: string): UsageSum {
  return {
    atMs,
    group,
    requests: record.requests,
    errors: record.errors,
    ...fromTokenRecord(record),
    firstEvents: record.first_events,
    firstEventMsSum: record.first_event_ms_sum,
    durationMsSum: record.duration_ms_sum,
    billedCost: record.billed_cost,
    shownCost: record.shown_cost,
    unpriced: record.unpriced,
    cacheLostTokens: record.cache_lost_tokens,
    cacheLostCost: record.cache_lost_cost,
  };
}
