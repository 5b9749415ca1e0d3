import { sql, type Kysely } from 'kysely';
import type { UsageQuery, UsageSum } from '../../../../plugin/core.js';
import { answeredOf } from '../../../ledger/latency/latency-reading.js';
import { hourlyPair } from '../../../ledger/hourly-pair.js';
import { addSums, readSum, type SumRecord } from '../../../ledger/sums.js';
import { bucketsOf, conditionsOf, hourlyGroup, subtractSums } from '../../../ledger/usage-query.js';
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
import { stretchesOf } from './pairs/pair-hours.js';
import type { Tables } from '../tables/tables.js';
import { hourSource, pairSource, rowSource, type UsageSource } from './usage-source.js';

/**
 * Sums by bucket and group, from the hourly tables if they fit the buckets, else from the rows. About
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
  const { fromMs, toMs, stepMs } = bucketsOf(query);
  const open = new Map<string, UsageSum>();
  const complete: UsageSum[] = [];
  const { limit = Infinity } = query;
  for (const { source, ...own } of await sourcesOf(db, query, reading.dialect))
    for await (const part of partsOf(db, source, { fromMs, stepMs, ...own }, reading.partSize)) {
      for (const sum of await sumsIn(db, source, part)) add(open, sum);
      const openFromMs = part.endMs < toMs ? part.endMs - ((part.endMs - fromMs) % stepMs) : Infinity;
      complete.push(...takeBefore(openFromMs, open));
      if (complete.length >= limit) return complete.slice(0, query.limit);
    }
  return complete.slice(0, query.limit);
}

interface TimedSource {
  readonly source: UsageSource;
  /** Time that is read from it, unix milliseconds. */
  readonly startMs: number;
  readonly toMs: number;
}

/** Sources of a query, in the order of their times. */
async function sourcesOf(
  db: Kysely<Tables>,
  query: UsageQuery,
  dialect: Dialect,
): Promise<readonly TimedSource[]> {
  const { fromMs, toMs, isHourly } = bucketsOf(query);
  const whole = { startMs: fromMs, toMs };
  const hours = isHourly ? hourlyGroup(query) : undefined;
  if (hours) return [{ ...whole, source: hourSource(query, hours) }];
  const search = await searchFor(db, { ...conditionsOf(query), fromMs, toMs });
  const rows = rowSource(query, dialect, search);
  const pair = isHourly ? hourlyPair(query) : undefined;
  if (!pair) return [{ ...whole, source: rows }];
  const stretches = await stretchesOf(db, { fromMs, toMs });
  return stretches.map(({ hasSums, ...own }) => ({ ...own, source: hasSums ? pairSource(pair) : rows }));
}

/** Query for more sums than requested: so many of them may be removed. */
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
  const sums = taken.map(([, sum]) => sum).filter(({ requests }) => requests > 0); // those of a rest may have none
  return sums.toSorted((a, b) => a.atMs - b.atMs || (a.group < b.group ? -1 : 1));
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
  return rows.map((row) => readSum(row, ...placeOf(row, part)));
}

/** Adds a sum to those of its bucket, which may span several parts. */
function add(sums: Map<string, UsageSum>, sum: UsageSum): void {
  const key = `${sum.atMs} ${sum.group}`;
  const known = sums.get(key);
  sums.set(key, known ? addSums(known, sum) : sum);
}
