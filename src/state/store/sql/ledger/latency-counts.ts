import { sql, type Kysely } from 'kysely';
import type { Combination } from '../../../ledger/combination.js';
import { addCount, type LatencyCount, type LatencyCounts } from '../../../ledger/latency/latency.js';
import { latencyKinds, type LatencyKind } from '../../../ledger/latency/latency-reading.js';
import { PreparedInsert } from './insert-rows.js';
import type { Tables } from '../tables/tables.js';

/** Increment of one hour, group, measure and bucket. */
interface GroupCount extends LatencyCount {
  readonly kind: LatencyKind;
  readonly atMs: number;
  readonly name: string;
}

/** Counts of times by bucket, and the time to the first content of a row. */
export async function ledgerLatency(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  await db.schema.alterTable('ledger').addColumn('first_token_ms', 'bigint').execute();
  const table = db.schema
    .createTable('ledger_latency')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('measure', 'text', (column) => column.notNull())
    .addColumn('bucket', 'integer', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('ledger_latency_pk', ['kind', 'at', 'name', 'measure', 'bucket']);
  await (dialect === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table).execute();
}

/** Adds counts to existing ones. */
export function latencyInsert(): PreparedInsert<GroupCount> {
  return new PreparedInsert({
    table: 'ledger_latency',
    columns: ['kind', 'at', 'name', 'measure', 'bucket', 'count'],
    tail: sql`on conflict (kind, at, name, measure, bucket) do update
      set count = ledger_latency.count + excluded.count`,
    write: ({ kind, atMs, name, measure, bucket, count }, values) =>
      void values.push(kind, atMs, name, measure, bucket, count),
  });
}

/** Increments of the counts, in one order for all instances, as `sumsOf` has it. */
export function latencyCountsOf(combinations: Iterable<Combination>): readonly GroupCount[] {
  const groups = new Map<
    string,
    { readonly kind: LatencyKind; atMs: number; name: string; counts: LatencyCounts }
  >();
  for (const { atMs, row, latency } of combinations)
    for (const kind of latencyKinds) {
      const name = row[kind] ?? '';
      const place = `${kind} ${atMs} ${name}`;
      const group = groups.get(place) ?? { kind, atMs, name, counts: new Map() };
      groups.set(place, group);
      for (const count of latency.values()) addCount(group.counts, count);
    }
  const ordered = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return ordered.flatMap(([, { kind, atMs, name, counts }]) =>
    [...counts].toSorted(([a], [b]) => a - b).map(([, count]) => ({ kind, atMs, name, ...count })),
  );
}
