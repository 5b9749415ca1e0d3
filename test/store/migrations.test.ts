import { expect } from 'chai';
import { sql, type Kysely } from '#src/store/sql/kysely.js';
import type { UsageGroup } from '#src/plugin/internal.js';
import { openStore, type StoreSettings } from '#src/store/index.js';
import { migrate } from '#src/store/sql/migrate.js';
import { migrations } from '#src/store/sql/migrations.js';
import { openPostgres } from '#src/store/sql/postgres.js';
import { openSqlite } from '#src/store/sql/sqlite.js';
import { startSqliteThread } from '#src/store/sql/sqlite-thread.js';
import type { Tables } from '#src/store/sql/tables.js';
import { ownPostgres, ownSqlite, postgresUrl, quiet, type Place } from './stores.js';

const hour = 3_600_000;

describe('the tables of an older version', () => {
  const sqlite = (): Promise<Place<StoreSettings>> => ownSqlite();
  itKeepsTheSums('in SQLite', sqlite);
  itKeepsResponses('in SQLite', sqlite);
  itKeepsKeys('in SQLite', sqlite);
  itKeepsSessions('in SQLite', sqlite);
  if (postgresUrl === undefined) return;
  itKeepsTheSums('in PostgreSQL', () => ownPostgres(postgresUrl!));
  itKeepsResponses('in PostgreSQL', () => ownPostgres(postgresUrl!));
  itKeepsKeys('in PostgreSQL', () => ownPostgres(postgresUrl!));
  itKeepsSessions('in PostgreSQL', () => ownPostgres(postgresUrl!));
});

function itKeepsKeys(where: string, makePlace: () => Promise<Place<StoreSettings>>): void {
  it(`keep their keys ${where}, which may use every slot`, async () => {
    const place = await makePlace();
    await withOldTables(place.where, 7, async (db) => {
      await sql`insert into keys (id, name, hash, last4, created_at, models) values ('k', 'old', 'h', 'last', 1, '["a"]')`.execute(
        db,
      );
    });
    const store = await openStore(place.where, { log: quiet });
    const old = { id: 'k', name: 'old', hash: 'h', last4: 'last', createdAtMs: 1, models: ['a'] };
    expect(await store.keys.get('k')).to.deep.equal(old);
    expect(await store.keys.update('k', { slots: ['red-*'] })).to.deep.equal({ ...old, slots: ['red-*'] });
    await store.close();
    await place.remove();
  });
}

function itKeepsSessions(where: string, makePlace: () => Promise<Place<StoreSettings>>): void {
  it(`keep their sessions ${where}, which are those of an admin with the password`, async () => {
    const place = await makePlace();
    const expiresAtMs = Date.now() + hour;
    await withOldTables(place.where, 9, async (db) => {
      await sql`insert into sessions (token_hash, csrf_hash, created_at, expires_at) values ('t', 'c', 1, ${expiresAtMs})`.execute(
        db,
      );
    });
    const store = await openStore(place.where, { log: quiet });
    const actor = { kind: 'password', name: 'password', role: 'admin' };
    const old = { tokenHash: 't', csrfHash: 'c', actor, createdAtMs: 1, expiresAtMs };
    expect(await store.sessions.get('t')).to.deep.equal(old);
    expect(await store.sessions.list()).to.deep.equal([old]);
    await store.close();
    await place.remove();
  });
}

function itKeepsResponses(where: string, makePlace: () => Promise<Place<StoreSettings>>): void {
  it(`keep their responses ${where}, which count from then on`, async () => {
    const place = await makePlace();
    const stored = { input: [{ text: 'é' }], response: { id: 'r' } };
    const body = JSON.stringify(stored);
    const expiresAtMs = Date.now() + hour;
    await withOldTables(place.where, 3, async (db) => {
      for (const id of ['r', 's'])
        await sql`insert into responses (owner, id, body, expires_at) values ('me', ${id}, ${body}, ${expiresAtMs})`.execute(
          db,
        );
    });
    const store = await openStore(place.where, { log: quiet });
    expect(await store.responses.get('me', 'r')).to.deep.equal({
      id: 'r',
      owner: 'me',
      ...stored,
      expiresAtMs,
    });
    expect(await store.responses.getResponse('me', 'r')).to.deep.equal(stored.response);
    const total = { count: 2, bytes: 2 * Buffer.byteLength(body) };
    expect(await store.responses.totals()).to.deep.equal(new Map([['me', total]]));
    await store.responses.put({ id: 't', owner: 'me', ...stored, expiresAtMs }, { count: 1, bytes: 1000 });
    expect((await store.responses.totals()).get('me')?.count).to.equal(1);
    expect(await store.responses.get('me', 't')).to.not.equal(undefined);
    await store.close();
    await place.remove();
  });
}

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

/** Makes the tables as they were after so many migrations. */
async function withOldTables(
  where: StoreSettings,
  migrated: number,
  fill: (db: Kysely<Tables>) => Promise<void>,
): Promise<void> {
  if (where.kind === 'memory') throw new Error('It keeps nothing.');
  const db =
    where.kind === 'sqlite'
      ? await openSqlite(startSqliteThread(where.file))
      : (await openPostgres(where.url, quiet)).db;
  await migrate(db, where.kind, migrations.slice(0, migrated));
  await fill(db);
  await db.destroy();
}

async function fillOldHours(where: StoreSettings): Promise<void> {
  await withOldTables(where, 2, async (db) => {
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
  });
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
