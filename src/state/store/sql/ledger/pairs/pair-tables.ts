import { sql, type Kysely } from 'kysely';
import type { GroupPair } from '../../../../ledger/hourly-pair.js';
import { sumsWithMoney } from '../ledger-money.js';
import type { Tables } from '../../tables/tables.js';

/** Name of a pair in the column `kind`. */
export function pairKind(pair: GroupPair): string {
  return pair.join('+');
}

/** Primary key of the sums of pairs. */
export const pairKey = ['kind', 'at', 'first_name', 'second_name'] as const;

/** Makes the tables of sums by pair. They are empty at first: hours without such sums are read from the rows. */
export async function ledgerPairs(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  const named = db.schema
    .createTable('ledger_pairs')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('first_name', 'text', (column) => column.notNull())
    .addColumn('second_name', 'text', (column) => column.notNull());
  const table = sumsWithMoney
    .reduce((made, name) => made.addColumn(name, 'bigint', (column) => column.notNull()), named)
    .addPrimaryKeyConstraint('ledger_pairs_pk', [...pairKey]);
  await (dialect === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table).execute();
  await db.schema
    .createTable('ledger_pair_hours')
    .addColumn('at', 'bigint', (column) => column.primaryKey())
    .addColumn('requests', 'bigint', (column) => column.notNull())
    .addColumn('has_sums', 'integer', (column) => column.notNull())
    .execute();
}
