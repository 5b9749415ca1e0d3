import { setImmediate as breath } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { UsageQuery, UsageSum } from '../../plugin/internal.js';
import { bucketsOf, addSums, hourlyGroup } from '../../ledger/usage.js';
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
  { partSize, dialect }: UsageReading,
): Promise<readonly UsageSum[]> {
  const { fromMs, toMs, stepMs, isHourly } = bucketsOf(query);
  const hours = isHourly ? hourlyGroup(query) : undefined;
  const source = hours ? hourSource(query, hours) : rowSource(query, dialect);
  const open = new Map<string, UsageSum>();
  const complete: UsageSum[] = [];
  const { limit = Infinity } = query;
  for (let startMs = fromMs; startMs < toMs && complete.length < limit;) {
    const endMs = await endOfPart(db, source, { fromMs: startMs, toMs, partSize });
    for (const sum of await sumsIn(db, source, { fromMs, startMs, endMs, stepMs })) add(open, sum);
    const openFromMs = endMs < toMs ? endMs - ((endMs - fromMs) % stepMs) : Infinity;
    complete.push(...takeBefore(openFromMs, open));
    startMs = endMs;
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

interface Rest {
  readonly fromMs: number;
  readonly toMs: number;
  readonly partSize: number;
}

/** End of the next part of a span, by its max number of rows; at least one millisecond later. */
async function endOfPart(
  db: Kysely<Tables>,
  { table, where }: UsageSource,
  { fromMs, toMs, partSize }: Rest,
): Promise<number> {
  const { rows } = await sql<{ readonly at: number }>`
    select at from ${table} where ${where} and at >= ${fromMs} and at < ${toMs}
    order by at limit 1 offset ${sql.lit(partSize)}
  `.execute(db);
  return Math.max(fromMs + 1, rows[0]?.at ?? toMs);
}

interface Part {
  /** Start of the first bucket. */
  readonly fromMs: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

async function sumsIn(
  db: Kysely<Tables>,
  { table, where, group, sums }: UsageSource,
  { fromMs, startMs, endMs, stepMs }: Part,
): Promise<readonly UsageSum[]> {
  // Literals: SQLite takes a bound number for a real one, whose division does not truncate.
  const bucket = sql<number>`${sql.lit(fromMs)} + ((at - ${sql.lit(fromMs)}) / ${sql.lit(stepMs)}) * ${sql.lit(stepMs)}`;
  const { rows } = await sql<SumRecord & { readonly bucket: number; readonly grouped: string }>`
    select ${bucket} as bucket, ${group} as grouped, ${sums} from ${table}
    where ${where} and at >= ${startMs} and at < ${endMs} group by 1, 2
  `.execute(db);
  return rows.map(toSum);
}

/** A bucket may be cut by the parts. */
function add(sums: Map<string, UsageSum>, sum: UsageSum): void {
  const key = `${sum.atMs} ${sum.group}`;
  const known = sums.get(key);
  sums.set(key, known ? addSums(known, sum) : sum);
}

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
    billedCost: record.billed_cost,
    shownCost: record.shown_cost,
    unpriced: record.unpriced,
    cacheLostTokens: record.cache_lost_tokens,
    cacheLostCost: record.cache_lost_cost,
  };
}
