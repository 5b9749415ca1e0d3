import { expect } from 'chai';
import { sql, type Kysely } from 'kysely';
import type { UsageGroup } from '#src/plugin/contract/ledger.js';
import { openStore } from '#src/state/store/index.js';
import type { StoreSettings } from '#src/state/store/contract/settings.js';
import { migrate } from '#src/state/store/sql/tables/migrate.js';
import { migrations } from '#src/state/store/sql/tables/migrations.js';
import { openPostgres } from '#src/state/store/sql/postgres/postgres.js';
import { openSqlite } from '#src/state/store/sql/sqlite/sqlite.js';
import { startSqliteThread } from '#src/state/store/sql/sqlite/sqlite-thread.js';
import type { Tables } from '#src/state/store/sql/tables/tables.js';
import { row } from './ledger-conformance.js';
import { ownPostgres, ownSqlite, postgresUrl, quiet, type Place } from './stores.js';

const hour = 3_600_000;

describe('the tables of an older version', () => {
  const sqlite = (): Promise<Place<StoreSettings>> => ownSqlite();
  itKeepsTheSums('in SQLite', sqlite);
  itKeepsResponses('in SQLite', sqlite);
  itKeepsKeys('in SQLite', sqlite);
  itKeepsSessions('in SQLite', sqlite);
  itKeepsTheLedger('in SQLite', sqlite);
  if (postgresUrl === undefined) return;
  itKeepsTheSums('in PostgreSQL', () => ownPostgres(postgresUrl!));
  itKeepsResponses('in PostgreSQL', () => ownPostgres(postgresUrl!));
  itKeepsKeys('in PostgreSQL', () => ownPostgres(postgresUrl!));
  itKeepsSessions('in PostgreSQL', () => ownPostgres(postgresUrl!));
  itKeepsTheLedger('in PostgreSQL', () => ownPostgres(postgresUrl!));
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

function itKeepsTheLedger(where: string, makePlace: () => Promise<Place<StoreSettings>>): void {
  it(`keep their ledger ${where}: without costs, each request with tokens counts as unpriced`, async () => {
    const place = await makePlace();
    await withOldTables(place.where, 9, fillOldLedger);
    const store = await openStore(place.where, { log: quiet });
    const span = { fromMs: 0, toMs: 2 * hour };
    const sums = async (by: UsageGroup | null, stepMs: number, tag?: string) =>
      store.ledger.usage({ ...span, by, stepMs, ...(tag !== undefined && { tag }) });
    const brief = async (by: UsageGroup, tag?: string) =>
      (await sums(by, 2 * hour, tag)).map((sum) => [sum.group, sum.requests, sum.unpriced, sum.billedCost]);
    expect(await brief('key')).to.deep.equal([
      ['a', 2, 1, 0],
      ['b', 1, 1, 0],
    ]);
    expect(await brief('team')).to.deep.equal([['', 3, 2, 0]]);
    expect(await brief('tag', 'feature')).to.deep.equal([['search', 2, 1, 0]]);
    for (const [by, tag] of [
      [null],
      ['key'],
      ['team'],
      ['slot'],
      ['model'],
      ['asked_model'],
      ['format'],
      ['tag'],
      ['tag', 'feature'],
    ] as const)
      expect(await sums(by, 2 * hour, tag), `${by}`).to.deep.equal(await sums(by, 2 * hour + 1, tag));
    expect((await store.ledger.get({ atMs: 5, id: '1' }))?.trace).to.deep.equal({
      stages: [{ stage: 'auth', ms: 0.5 }],
      calls: [
        { slot: 's', ms: 3, code: 'overloaded' },
        { slot: 't', ms: 4 },
      ],
    });
    await store.ledger.append([row('4', 6, { keyId: 'a', cost: { billed: 9, shown: 8 } })]);
    expect((await sums('key', hour))[0]).to.include({
      requests: 3,
      unpriced: 1,
      billedCost: 9,
      shownCost: 8,
    });
    await store.close();
    await place.remove();
  });
}

/** Two requests in one hour and one in the next, with their sums. */
async function fillOldLedger(db: Kysely<Tables>): Promise<void> {
  const tags = JSON.stringify({ feature: 'search' });
  const trace = '[[["auth",0.5]],[["s",3,"overloaded"],["t",4]]]';
  for (const [id, at, key, output] of [
    ['1', 5, 'a', 7],
    ['2', 6, 'a', 0],
    ['3', hour, 'b', 7],
  ] as const) {
    const tagged = key === 'a';
    const groups = { key, slot: 's', model: 'm', format: 'chat' };
    await insertOld(db, 'ledger', {
      ...zeros(oldTokens),
      id,
      at,
      request_id: id,
      key_id: key,
      slot: 's',
      model: 'm',
      format: 'chat',
      status: 200,
      failed: 0,
      streamed: 1,
      attempts: 1,
      duration_ms: 1,
      output_tokens: output,
      tags: tagged ? tags : null,
      trace,
    });
    for (const [kind, name] of Object.entries({
      ...groups,
      ...(tagged && { tag: 'feature', 'tag:feature': 'search' }),
    }))
      await addOldSum(db, { kind, name, at: at - (at % hour) }, output);
  }
}

async function addOldSum(
  db: Kysely<Tables>,
  { kind, name, at }: { readonly kind: string; readonly name: string; readonly at: number },
  output: number,
): Promise<void> {
  const where = sql`kind = ${kind} and name = ${name} and at = ${at}`;
  const { rows } = await sql`select 1 from ledger_sums where ${where}`.execute(db);
  if (rows.length === 0) await insertOld(db, 'ledger_sums', { ...zeros(oldSums), kind, name, at });
  await sql`
    update ledger_sums set requests = requests + 1, duration_ms_sum = duration_ms_sum + 1,
      output_tokens = output_tokens + ${output} where ${where}
  `.execute(db);
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
  await insertOld(db, 'ledger_hours', { ...zeros(oldSums), ...given });
}

async function insertOld(
  db: Kysely<Tables>,
  table: string,
  given: Readonly<Record<string, number | string | null>>,
): Promise<void> {
  const columns = sql.join(Object.keys(given).map((column) => sql.ref(column)));
  const values = sql.join(Object.values(given));
  await sql`insert into ${sql.table(table)} (${columns}) values (${values})`.execute(db);
}

function zeros(columns: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(columns.map((column) => [column, 0]));
}

const counted = ['input_tokens', 'cache_read_tokens', 'cache_write_5m_tokens', 'cache_write_1h_tokens'];
const oldTokens = [...counted, 'output_tokens'].flatMap((column) => [column, `shown_${column}`]);
const oldSums = ['requests', 'errors', 'first_events', 'first_event_ms_sum', 'duration_ms_sum', ...oldTokens];
