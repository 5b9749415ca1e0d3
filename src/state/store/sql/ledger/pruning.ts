import { sql, type Kysely } from 'kysely';
import { hourOf } from '../../../ledger/usage-query.js';
import { latencyMeasures } from '../../../ledger/contract.js';
import { latencyKinds, type LatencyKind } from '../../../ledger/latency/latency-reading.js';
import { rowGroups } from '../../../ledger/groups.js';
import { groupPairs } from '../../../ledger/hourly-pair.js';
import { pairKey, pairKind } from './pairs/pair-tables.js';
import type { SumKind, Tables } from '../tables/tables.js';
import { stepResult, type StepResult } from '../../../step-result.js';

/**
 * Deletes the oldest ledger rows in steps, each from the end of the last one. Dead rows stay in PostgreSQL
 * for a while, and every step from the start would scan all of them.
 */
export class Pruning {
  #fromMs = 0;

  async run(db: Kysely<Tables>, beforeMs: number, limit: number): Promise<StepResult> {
    const span = { fromMs: this.#fromMs, toMs: hourOf(beforeMs), limit };
    for (const kind of [...rowGroups.map(({ group }) => group), 'asked_model', 'stage', 'cause'] as const)
      await deleteSums(db, kind, span);
    await deleteTagSums(db, span);
    for (const kind of latencyKinds) await deleteCounts(db, kind, span);
    await deletePairs(db, span);
    const deleted = await deleteRows(db, 'ledger', span);
    const step = stepResult(deleted.length, limit);
    this.#fromMs = step.isDone ? 0 : Math.max(...deleted);
    return step;
  }
}

/** Times from `fromMs` to before `toMs`, of at most `limit` rows. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
}

/**
 * Deletes rows and returns the time of each. The limit is set by a subquery, as neither database has a
 * limited delete.
 */
export async function deleteRows(
  db: Kysely<Tables>,
  table: 'ledger' | 'ledger_errors',
  { fromMs, toMs, limit }: Span,
): Promise<readonly number[]> {
  const name = sql.table(table);
  const { rows } = await sql<{ readonly at: number }>`
    delete from ${name} where (at, id) in
      (select at, id from ${name} where at >= ${fromMs} and at < ${toMs} order by at limit ${limit})
    returning at
  `.execute(db);
  return rows.map(({ at }) => at);
}

/** Never more sums than their rows. */
async function deleteSums(db: Kysely<Tables>, kind: SumKind, span: Span): Promise<void> {
  await deleteHours(db, { table: 'ledger_sums', key: ['kind', 'at', 'name'] }, kind, span);
}

/** Never more counts than their rows, times the measures. */
async function deleteCounts(db: Kysely<Tables>, kind: LatencyKind, span: Span): Promise<void> {
  const key = ['kind', 'at', 'name', 'measure', 'bucket'];
  const limit = span.limit * latencyMeasures.length;
  await deleteHours(db, { table: 'ledger_latency', key }, kind, { ...span, limit });
}

/** The hours go first: without them no sum is read. */
async function deletePairs(db: Kysely<Tables>, span: Span): Promise<void> {
  await sql`delete from ledger_pair_hours where at >= ${hourOf(span.fromMs)} and at < ${span.toMs}`.execute(
    db,
  );
  for (const pair of groupPairs)
    await deleteHours(db, { table: 'ledger_pairs', key: pairKey }, pairKind(pair), span);
}

/** Table of hours, with the columns of its primary key. */
interface HourTable {
  readonly table: 'ledger_sums' | 'ledger_latency' | 'ledger_pairs';
  readonly key: readonly string[];
}

async function deleteHours(
  db: Kysely<Tables>,
  { table, key }: HourTable,
  kind: string,
  { fromMs, toMs, limit }: Span,
): Promise<void> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  await sql`
    delete from ${sql.table(table)} where (${columns}) in
      (select ${columns} from ${sql.table(table)}
       where kind = ${sql.lit(kind)} and at >= ${hourOf(fromMs)} and at < ${toMs} order by at limit ${limit})
  `.execute(db);
}

/** The sums by name of tag go last, as they list the kinds of sums by value. */
async function deleteTagSums(db: Kysely<Tables>, span: Span): Promise<void> {
  const { rows } = await sql<{ readonly name: string }>`
    select distinct name from ledger_sums where kind = 'tag' and at >= ${hourOf(span.fromMs)} and at < ${span.toMs}
  `.execute(db);
  for (const { name } of rows) await deleteSums(db, `tag:${name}`, span);
  await sql`
    delete from ledger_sums where kind = 'tag' and at >= ${hourOf(span.fromMs)} and at < ${span.toMs} and not exists
      (select 1 from ledger_sums as sums where sums.kind = 'tag:' || ledger_sums.name and sums.at = ledger_sums.at)
  `.execute(db);
}
