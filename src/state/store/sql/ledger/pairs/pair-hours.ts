import { sql, type Kysely } from 'kysely';
import type { Tables } from '../../tables/tables.js';

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Time with valid sums of pairs, or with rows that have to be counted. */
export interface Stretch {
  readonly startMs: number;
  readonly toMs: number;
  readonly hasSums: boolean;
}

/** A span in stretches, in their order; an hour without a request is in the one before it. */
export async function stretchesOf(db: Kysely<Tables>, span: Span): Promise<readonly Stretch[]> {
  const { rows } = await sql<{ readonly at: number; readonly has_sums: number }>`
    select hours.at as at, case when pairs.has_sums = 1 and pairs.requests = hours.requests then 1 else 0 end as has_sums
    from ${countedHours(span)} order by hours.at
  `.execute(db);
  const stretches: Stretch[] = [];
  for (const { at, has_sums } of rows) {
    const hasSums = has_sums === 1;
    const last = stretches.at(-1);
    if (last?.hasSums === hasSums) continue;
    if (last) stretches.splice(-1, 1, { ...last, toMs: at });
    stretches.push({ startMs: last ? at : span.fromMs, toMs: span.toMs, hasSums });
  }
  return stretches;
}

/** Hour of the ledger with its number of requests. */
export interface CountedHour {
  readonly atMs: number;
  readonly requests: number;
}

/** Hours from before `toMs` whose sums of pairs are missing, or based on fewer requests; the newest first. */
export async function unsummedHours(
  db: Kysely<Tables>,
  toMs: number,
  limit: number,
): Promise<readonly CountedHour[]> {
  const { rows } = await sql<{ readonly at: number; readonly requests: number }>`
    select hours.at as at, hours.requests as requests from ${countedHours({ fromMs: 0, toMs })}
    where pairs.at is null or pairs.requests <> hours.requests order by hours.at desc limit ${limit}
  `.execute(db);
  return rows.map(({ at, requests }) => ({ atMs: at, requests }));
}

/** The hours of a span, with the basis of their sums of pairs. Each request has one format. */
function countedHours({ fromMs, toMs }: Span) {
  return sql`
    (select at, sum(requests) as requests from ledger_sums
     where kind = 'format' and at >= ${fromMs} and at < ${toMs} group by at) as hours
    left join ledger_pair_hours as pairs on pairs.at = hours.at
  `;
}
