import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from '../tables/tables.js';

/** Columns of teams, sessions, times, costs and cache losses; old rows have no cost and count as unpriced. */
export async function ledgerMoney(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  await sql`alter table ledger add column team text not null default ''`.execute(db);
  for (const column of ['session', 'additions', 'cache_cause', 'cache_detail'])
    await sql`alter table ledger add column ${sql.ref(column)} text`.execute(db);
  for (const column of ['queue_ms', 'output_ms', 'billed_cost', 'shown_cost', ...lostColumns])
    await sql`alter table ledger add column ${sql.ref(column)} bigint`.execute(db);
  for (const column of ['billed_cost', 'shown_cost', 'unpriced', ...lostColumns])
    await sql`alter table ledger_sums add column ${sql.ref(column)} bigint not null default 0`.execute(db);
  await sql`create index ledger_by_session on ledger (session, at, id) where session is not null`.execute(db);
  await sql`create index ledger_by_team on ledger (team, at, id) where team <> ''`.execute(db);
  await sql`
    create index ledger_by_cache_cause on ledger (cache_cause, at, id) where cache_cause is not null
  `.execute(db);
  await countUnpriced(db, dialect);
  await teamSums(db);
}

const lostColumns = ['cache_lost_tokens', 'cache_lost_cost'];

async function countUnpriced(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  for (const [kind, column] of oldGroups)
    await addUnpriced(db, {
      from: sql`ledger`,
      kind: sql`cast(${sql.lit(kind)} as text)`,
      name: sql.ref(column),
    });
  const each = dialect === 'sqlite' ? sql`json_each(tags)` : sql`json_each_text(tags::json)`;
  const from = sql`(select * from ledger where tags is not null) as tagged, ${each} as tag`;
  await addUnpriced(db, { from, kind: sql`'tag'`, name: sql`tag.key` });
  await addUnpriced(db, { from, kind: sql`'tag:' || tag.key`, name: sql`tag.value` });
}

interface Counted {
  readonly from: RawBuilder<unknown>;
  readonly kind: RawBuilder<unknown>;
  readonly name: RawBuilder<unknown>;
}

/** Sets the number of rows with tokens in the existing sums. */
async function addUnpriced(db: Kysely<Tables>, { from, kind, name }: Counted): Promise<void> {
  await sql`
    update ledger_sums set unpriced = counted.requests from (
      select ${kind} as kind, at - at % 3600000 as hour, ${name} as name, count(*) as requests from ${from}
      where input_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens + output_tokens > 0
      group by 1, 2, 3
    ) as counted
    where ledger_sums.kind = counted.kind and ledger_sums.at = counted.hour and ledger_sums.name = counted.name
  `.execute(db);
}

/** Sums of all requests as those without a team. */
async function teamSums(db: Kysely<Tables>): Promise<void> {
  const columns = sql.join(oldSums.map((column) => sql.ref(column)));
  const sums = sql.join(oldSums.map((column) => sql`sum(${sql.ref(column)})`));
  await sql`
    insert into ledger_sums (kind, at, name, ${columns})
    select 'team', at, '', ${sums} from ledger_sums where kind = 'format' group by at
  `.execute(db);
}

const oldGroups = [
  ['key', 'key_id'],
  ['slot', 'slot'],
  ['model', 'model'],
  ['format', 'format'],
] as const;

const oldTokens = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output'];

const oldSums = [
  'requests',
  'errors',
  'first_events',
  'first_event_ms_sum',
  'duration_ms_sum',
  ...oldTokens.flatMap((name) => [`${name}_tokens`, `shown_${name}_tokens`]),
  'unpriced',
];

/** Columns of an hourly sum as of this migration, regardless of later additions to tables.ts. */
export const sumsWithMoney = [...oldSums, 'billed_cost', 'shown_cost', ...lostColumns] as const;
