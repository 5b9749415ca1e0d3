import { sql, type Kysely, type RawBuilder } from 'kysely';
import { groupPairs, pairColumnOf, type GroupPair } from '../../../../ledger/hourly-pair.js';
import { sumColumns } from '../../../../ledger/sums.js';
import { hourOf } from '../../../../ledger/usage-query.js';
import { hourMs } from '../../../../../kit/time/clock.js';
import { unsummedHours, type CountedHour } from './pair-hours.js';
import { pairKey, pairKind } from './pair-tables.js';
import { groupedBy, type Dialect } from '../parts.js';
import type { Tables } from '../../tables/tables.js';
import { sumsOfRows } from '../usage-source.js';
import { stepResult, type StepResult } from '../../../../step-result.js';

/** Hours from before `beforeMs`, at most `limit`. */
interface PairHours {
  readonly beforeMs: number;
  readonly limit: number;
}

/**
 * Sums hours by pairs of groups, the newest first, and again those with further requests since. A failed hour is skipped
 * next time, so as not to block all older ones.
 */
export async function sumPairs(
  db: Kysely<Tables>,
  dialect: Dialect,
  { beforeMs, limit }: PairHours,
): Promise<StepResult> {
  const hours = await unsummedHours(db, hourOf(beforeMs), limit);
  for (const hour of hours) {
    const isSmall = hour.requests <= maxRequests[dialect];
    try {
      if (isSmall) await sumHour(db, dialect, hour.atMs);
    } catch (error) {
      await recordHour(db, hour, false);
      throw error;
    }
    await recordHour(db, hour, isSmall);
  }
  return stepResult(hours.length, limit);
}

/**
 * Serializes instances that sum an hour: by the file lock on SQLite, by an advisory lock on PostgreSQL, which sums one
 * pair after the other for its statement timeout. Rows that arrive meanwhile are in some pairs only, but then the hour
 * is summed again.
 */
async function sumHour(db: Kysely<Tables>, dialect: Dialect, atMs: number): Promise<void> {
  if (dialect === 'sqlite') return void (await insertPairs(atMs, groupPairs).execute(db));
  await db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${lockId}, ${atMs / hourMs}::integer)`.execute(transaction);
    for (const pair of groupPairs) await insertPairs(atMs, [pair]).execute(transaction);
  });
}

/** Replaces the sums of an hour, whose pairs stay and grow. */
function insertPairs(atMs: number, pairs: readonly GroupPair[]): RawBuilder<unknown> {
  const columns = refs([...new Set(pairs.flat())].map((group) => pairColumnOf[group]));
  const values = refs([...pairKey, ...sumColumns]);
  const replaced = sumColumns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`);
  return sql`
    with combinations as materialized (
      select ${sql.join([...columns, sumsOfRows])} from ledger
      where at >= ${atMs} and at < ${atMs + hourMs} ${groupedBy(columns.length)}
    )
    insert into ledger_pairs (${sql.join(values)})
    select ${sql.join(values)} from (${sql.join(
      pairs.map((pair) => sumsOfPair(pair, atMs)),
      sql` union all `,
    )}) as pairs where true
    on conflict (${sql.join(refs(pairKey))}) do update set ${sql.join(replaced)}
  `;
}

function sumsOfPair(pair: GroupPair, atMs: number): RawBuilder<unknown> {
  const [first, second] = pair.map((group) => sql`cast(${sql.ref(pairColumnOf[group])} as text)`);
  const sums = sumColumns.map((column) => sql`sum(${sql.ref(column)}) as ${sql.ref(column)}`);
  const kind = sql.lit(pairKind(pair));
  return sql`
    select ${kind} as kind, ${sql.lit(atMs)} as at, ${first} as first_name, ${second} as second_name, ${sql.join(sums)}
    from combinations group by ${first}, ${second}
  `;
}

function refs(columns: readonly string[]): readonly RawBuilder<unknown>[] {
  return columns.map((column) => sql.ref(column));
}

/** Records the requests of an hour before it was summed: with further ones, its sums are not valid. */
async function recordHour(
  db: Kysely<Tables>,
  { atMs, requests }: CountedHour,
  isSummed: boolean,
): Promise<void> {
  await sql`
    insert into ledger_pair_hours (at, requests, has_sums) values (${atMs}, ${requests}, ${isSummed ? 1 : 0})
    on conflict (at) do update set requests = excluded.requests, has_sums = excluded.has_sums
  `.execute(db);
}

/** Max requests of an hour that is summed: SQLite does so in one statement, during which it writes nothing else. */
const maxRequests = { sqlite: 20_000, postgres: 1_000_000 } as const;

/** Advisory lock class, unique on the database; see migrate.ts for the lock of the migrations. */
const lockId = 492275;
