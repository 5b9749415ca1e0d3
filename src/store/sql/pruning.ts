import { sql, type Kysely } from './kysely.js';
import type { UsageGroup } from '../../plugin/index.js';
import { hourOf } from '../../ledger/usage-range.js';
import { groupKinds, type Tables } from './tables.js';

/**
 * Deletes the oldest of the ledger in steps. Each begins where the last one ended: to PostgreSQL what was deleted is still
 * in the way for a while, and from the very beginning every step would walk past all of it.
 */
export class Pruning {
  #fromMs = 0;

  /** Gives how many rows it has deleted; fewer than `limit`: there are no more. */
  async run(db: Kysely<Tables>, beforeMs: number, limit: number): Promise<number> {
    const span = { fromMs: this.#fromMs, toMs: hourOf(beforeMs), limit };
    for (const [kind] of groupKinds) await deleteSums(db, kind, span);
    const deleted = await deleteRows(db, span);
    this.#fromMs = deleted.length < limit ? 0 : Math.max(...deleted);
    return deleted.length;
  }
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
}

/**
 * Gives the time of each. Neither database deletes with a limit by itself, so that a query for the primary keys sets it.
 */
async function deleteRows(db: Kysely<Tables>, { fromMs, toMs, limit }: Span): Promise<readonly number[]> {
  const { rows } = await sql<{ readonly at: number }>`
    delete from ledger where (at, id) in
      (select at, id from ledger where at >= ${fromMs} and at < ${toMs} order by at limit ${limit})
    returning at
  `.execute(db);
  return rows.map(({ at }) => at);
}

/** There are never more of them than of the rows that they sum up. */
async function deleteSums(
  db: Kysely<Tables>,
  kind: UsageGroup,
  { fromMs, toMs, limit }: Span,
): Promise<void> {
  const where = sql`kind = ${sql.lit(kind)} and at >= ${hourOf(fromMs)} and at < ${toMs}`;
  await sql`
    delete from ledger_sums where (kind, at, name) in
      (select kind, at, name from ledger_sums where ${where} order by at limit ${limit})
  `.execute(db);
}
