import { expect } from 'chai';
import { sql, type Kysely } from '#src/store/sql/kysely.js';
import type { UsageGroup } from 'gw2api/plugin';
import { openStore, type StoreSettings } from '#src/store/index.js';
import { migrate } from '#src/store/sql/migrate.js';
import { migrations } from '#src/store/sql/migrations.js';
import { openPostgres } from '#src/store/sql/postgres.js';
import { openSqlite } from '#src/store/sql/sqlite.js';
import type { Tables } from '#src/store/sql/tables.js';
import { ownPostgres, ownSqlite, postgresUrl, quiet, type Place } from './stores.js';

const hour = 3_600_000;

describe('the tables of an older version', () => {
  const sqlite = (): Promise<Place<StoreSettings>> => ownSqlite();
  itKeepsTheSums('in SQLite', sqlite);
  if (postgresUrl !== undefined) itKeepsTheSums('in PostgreSQL', () => ownPostgres(postgresUrl!));
});

function itKeepsTheSums(where: string, makePlace: () => Promise<Place<StoreSettings>>): void {
  it(`keep their sums ${where} when hours are no longer divided by everything at once`, async () => {
    const place = await makePlace();
    await fillOldHours(place.where);
    const store = await openStore(place.where, { log: quiet });
    const sums = async (by: UsageGroup | null, keyId?: string) => {
      const query = { fromMs: 0, toMs: 2 * hour, by, stepMs: hour, ...(keyId && { keyId }) };
      return (await store.ledger.usage(query)).map((sum) => [
        sum.atMs / hour,
        sum.group,
        sum.requests,
        sum.billed.output,
      ]);
    };
    expect(await sums(null)).to.deep.equal([
      [0, '', 3, 30],
      [1, '', 1, 10],
    ]);
    expect(await sums('key')).to.deep.equal([
      [0, 'a', 2, 20],
      [0, 'b', 1, 10],
      [1, 'a', 1, 10],
    ]);
    expect(await sums('slot')).to.deep.equal([
      [0, 's', 2, 20],
      [0, 't', 1, 10],
      [1, 's', 1, 10],
    ]);
    expect(await sums(null, 'a')).to.deep.equal([
      [0, '', 2, 20],
      [1, '', 1, 10],
    ]);
    await store.close();
    await place.remove();
  });
}

async function fillOldHours(where: StoreSettings): Promise<void> {
  if (where.kind === 'memory') throw new Error('It keeps nothing.');
  const db =
    where.kind === 'sqlite' ? await openSqlite(where.file) : (await openPostgres(where.url, quiet)).db;
  await migrate(db, where.kind, migrations.slice(0, 2));
  for (const [at, key, slot] of [
    [0, 'a', 's'],
    [0, 'a', 't'],
    [0, 'b', 's'],
    [hour, 'a', 's'],
  ] as const)
    await insertHour(db, {
      at,
      key_id: key,
      slot,
      model: 'm',
      format: 'chat',
      requests: 1,
      output_tokens: 10,
    });
  await db.destroy();
}

async function insertHour(
  db: Kysely<Tables>,
  given: Readonly<Record<string, number | string>>,
): Promise<void> {
  const zeros = Object.fromEntries(oldSums.map((column) => [column, 0]));
  const values = Object.entries({ ...zeros, ...given });
  const columns = sql.join(values.map(([column]) => sql.ref(column)));
  await sql`insert into ledger_hours (${columns}) values (${sql.join(values.map(([, value]) => value))})`.execute(
    db,
  );
}

const counted = ['input_tokens', 'cache_read_tokens', 'cache_write_5m_tokens', 'cache_write_1h_tokens'];
const tokens = [...counted, 'output_tokens'].flatMap((column) => [column, `shown_${column}`]);
const oldSums = ['requests', 'errors', 'first_events', 'first_event_ms_sum', 'duration_ms_sum', ...tokens];
