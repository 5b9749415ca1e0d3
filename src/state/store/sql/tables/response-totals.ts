import { sql, type Kysely } from 'kysely';
import type { Tables } from './tables.js';

/** Adds columns for the size, time and input of stored responses, and a row of totals for each owner. */
export async function responseTotals(db: Kysely<Tables>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  await db.schema.alterTable('responses').addColumn('input', 'text').execute();
  for (const name of ['bytes', 'created_at'])
    await db.schema
      .alterTable('responses')
      .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
  const length = dialect === 'sqlite' ? sql`length(cast(body as blob))` : sql`octet_length(body)`;
  await sql`update responses set bytes = ${length}, created_at = expires_at - ${sql.lit(oldLifetimeMs)}`.execute(
    db,
  );
  // With the size in it, the oldest can be chosen without a look at rows of megabytes.
  await sql`create index responses_by_owner on responses (owner, created_at, id, bytes)`.execute(db);
  await totals(db);
  for (const statement of dialect === 'sqlite' ? sqliteTriggers : postgresTriggers)
    await statement.execute(db);
}

async function totals(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .createTable('response_totals')
    .addColumn('owner', 'text', (column) => column.primaryKey())
    .addColumn('responses', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .execute();
  await sql`
    insert into response_totals (owner, responses, bytes) select owner, count(*), sum(bytes) from responses group by owner
  `.execute(db);
}

/** Lifetime of every response before this migration. */
const oldLifetimeMs = 30 * 24 * 60 * 60 * 1000;

const added = sql`
  insert into response_totals (owner, responses, bytes) values (new.owner, 1, new.bytes)
  on conflict (owner) do update set
    responses = response_totals.responses + 1, bytes = response_totals.bytes + excluded.bytes
`;

const changed = sql`update response_totals set bytes = bytes + new.bytes - old.bytes where owner = new.owner`;

const deleted = sql`
  update response_totals set responses = responses - 1, bytes = bytes - old.bytes where owner = old.owner
`;

const sqliteTriggers = [
  sql`create trigger responses_added after insert on responses begin ${added}; end`,
  sql`create trigger responses_changed after update on responses begin ${changed}; end`,
  sql`create trigger responses_deleted after delete on responses begin ${deleted}; end`,
];

const postgresTriggers = [
  sql`
    create function count_responses() returns trigger language plpgsql as $$
    begin
      if tg_op = 'INSERT' then ${added};
      elsif tg_op = 'UPDATE' then ${changed};
      else ${deleted};
      end if;
      return null;
    end $$
  `,
  sql`
    create trigger responses_counted after insert or update or delete on responses
    for each row execute function count_responses()
  `,
];
