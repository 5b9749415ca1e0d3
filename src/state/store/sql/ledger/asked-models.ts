import { sql, type Kysely } from 'kysely';
import { sumsWithMoney } from './ledger-money.js';
import type { Tables } from '../tables/tables.js';

/**
 * Adds the requested model of a row beside the one that answered. Earlier sums are by the requested model, and are used
 * for both groups.
 */
export async function askedModels(db: Kysely<Tables>): Promise<void> {
  await db.schema.alterTable('ledger').addColumn('asked_model', 'text').execute();
  const sums = sql.join(sumsWithMoney.map((column) => sql.ref(column)));
  await sql`
    insert into ledger_sums (kind, at, name, ${sums})
    select 'asked_model', at, name, ${sums} from ledger_sums where kind = 'model'
  `.execute(db);
}
