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
import { searchFor } from './ledger-search.js';
import {
  groupedBy,
  inPart,
  partsOf,
  placeColumns,
  placeOf,
  type Dialect,
  type Part,
  type PlaceRecord,
} from './parts.js';
import { fromTokenRecord } from './ledger-record.js';
import type { SumRecord, Tables } from './tables.js';
import { hourSource, rowSource, type UsageSource } from './usage-source.js';
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
    const all = await sqlUsage(db, withMore(answered.all, failed.length), reading);
    return subtractSums(all, failed).slice(0, query.limit);
  }
  const { fromMs, toMs, stepMs, isHourly } = bucketsOf(query);
  const hours = isHourly ? hourlyGroup(query) : undefined;
  const source = hours
    ? hourSource(query, hours)
    : rowSource(query, reading.dialect, await searchFor(db, { ...conditionsOf(query), fromMs, toMs }));
  const open = new Map<string, UsageSum>();
  const complete: UsageSum[] = [];
  const { limit = Infinity } = query;
  for await (const part of partsOf(db, source, { fromMs, toMs, stepMs }, reading.partSize)) {
    for (const sum of await sumsIn(db, source, part)) add(open, sum);
    const openFromMs = part.endMs < toMs ? part.endMs - ((part.endMs - fromMs) % stepMs) : Infinity;
    complete.push(...takeBefore(openFromMs, open));
    if (complete.length >= limit) break;
  }
  return complete.slice(0, query.limit);
}

/** Query for more sums than it asked for: so many of them may be taken away. */
function withMore(query: UsageQuery, sums: number): UsageQuery {
  return query.limit === undefined ? query : { ...query, limit: query.limit + sums };
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

async function sumsIn(
  db: Kysely<Tables>,
  { from, group, sums }: UsageSource,
  part: Part,
): Promise<readonly UsageSum[]> {
  const places = placeColumns(part, group);
  const { rows } = await sql<SumRecord & PlaceRecord>`
    select ${sql.join([...places, sums])} from ${from(inPart(part))} ${groupedBy(places.length)} having count(*) > 0
  `.execute(db);
  return rows.map((row) => toSum(row, ...placeOf(row, part)));
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
