import type { UsageSum } from '#src/plugin/contract/ledger.js';
import { expect } from 'chai';
import type { LedgerRow } from '#src/state/ledger/contract.js';
import type { WholeStore } from '#src/state/store/contract/store.js';
import { createCipher } from '#src/state/store/credential-cipher.js';
import { openStore } from '#src/state/store/index.js';
import type { StoreSettings } from '#src/state/store/contract/settings.js';
import { sql, type Kysely } from 'kysely';
import { migrate } from '#src/state/store/sql/tables/migrate.js';
import { migrations } from '#src/state/store/sql/tables/migrations.js';
import { openPostgres } from '#src/state/store/sql/postgres/postgres.js';
import { accountOf, settingsOf, tokensOf } from '#src/state/store/sql/secrets.js';
import { openSqlite } from '#src/state/store/sql/sqlite/sqlite.js';
import { startSqliteThread } from '#src/state/store/sql/sqlite/sqlite-thread.js';
import type { Tables } from '#src/state/store/sql/tables/tables.js';
import { ownPostgres, ownSqlite, postgresUrl, quiet, secretKey, type Place } from './stores.js';

const hourMs = 3_600_000;
/** The beginning of an hour, a day ago: nothing in it is expired or pruned. */
const startMs = Math.floor(Date.now() / hourMs) * hourMs - 24 * hourMs;
const laterMs = Date.now() + 24 * hourMs;

type Values = Readonly<Record<string, string | number | null>>;

describe('a store of an older version', function () {
  this.timeout(60_000);
  for (const [at, { name }] of migrations.entries()) {
    it(`is read whole after ${name}, in SQLite`, () => upgrade(at + 1, ownSqlite));
    if (postgresUrl !== undefined)
      it(`is read whole after ${name}, in PostgreSQL`, () =>
        upgrade(at + 1, () => ownPostgres(postgresUrl!)));
  }
});

async function upgrade(migrated: number, makePlace: () => Promise<Place<StoreSettings>>): Promise<void> {
  const place = await makePlace();
  try {
    const { tables, columns } = await fill(place.where, migrated);
    const store = await openStore(place.where, { secretKey, log: quiet });
    try {
      await expectKeys(store, columns('keys'));
      await expectSecrets(store);
      await expectState(store, tables);
      await expectLedger(store, columns('ledger'));
    } finally {
      await store.close();
    }
    await openAgain(place.where);
  } finally {
    await place.remove();
  }
}

/** A second start finds nothing to migrate, the same rows, and the one of `appendsOn`. */
async function openAgain(where: StoreSettings): Promise<void> {
  const store = await openStore(where, { secretKey, log: quiet });
  expect((await store.ledger.requests({}, { limit: 100 })).rows).to.have.length(ledgerRows.length + 1);
  await store.close();
}

async function expectKeys(store: WholeStore, columns: ReadonlySet<string>): Promise<void> {
  const limits = { requestsPerMinute: 5, tokensPerMinute: 6, tokensPerDay: 7, tokensPerMonth: 8 };
  expect(await store.keys.findByHash('hash-full')).to.deep.include({
    id: 'k-full',
    name: 'full',
    last4: 'full',
    createdAtMs: startMs,
    models: ['sonnet-*'],
    note: 'of the team',
    ...limits,
    ...(columns.has('max_concurrent') && { maxConcurrent: 9 }),
    ...(columns.has('slots') && { slots: ['a'] }),
  });
  expect((await store.keys.list()).map(({ id }) => id)).to.have.members(['k-full', 'k-plain']);
  expect((await store.keys.get('k-plain'))?.revokedAtMs).to.equal(startMs + 1);
}

async function expectSecrets(store: WholeStore): Promise<void> {
  expect(await store.credentials.get('a')).to.deep.equal(tokens);
  const [slot] = await store.slots.list();
  expect(slot).to.deep.equal({ id: 'a', ...slotParts, createdAtMs: startMs, updatedAtMs: startMs + 1 });
}

async function expectState(store: WholeStore, tables: ReadonlySet<string>): Promise<void> {
  expect((await store.bindings.get('sticky'))?.slotId).to.equal('a');
  await store.sessions.list(); // people log in again where a session says nothing of them
  expect(await store.responses.get('k-full', 'resp_1')).to.deep.include(response);
  expect((await store.responses.totals()).get('k-full')?.count).to.equal(1);
  if (tables.has('deleted_keys')) expect((await store.keys.names()).get('k-gone')).to.equal('gone');
  if (tables.has('slot_states'))
    expect(await store.slotStates.list()).to.deep.equal([{ key: 'a/paused', value: true }]);
  if (tables.has('plugin_values')) expect(await store.spaces.get('my-plugin', 'k')).to.equal('"kept"');
}

async function expectLedger(store: WholeStore, columns: ReadonlySet<string>): Promise<void> {
  const { rows } = await store.ledger.requests({}, { limit: 100 });
  expect(rows.map(({ id }) => id)).to.have.members(ledgerRows.map(({ id }) => id));
  const first = await store.ledger.get({ id: 'r-0', atMs: startMs });
  expect(first).to.deep.include({
    requestId: 'req-0',
    keyId: 'k-full',
    slot: 'a',
    model: 'sonnet-5',
    status: 200,
  });
  expect(first?.billed).to.include({ input: 100, output: 10 });
  if (columns.has('trace'))
    expect(first?.trace).to.deep.equal({
      stages: [{ stage: 'auth', ms: 1 }],
      calls: [{ slot: 'a', ms: 40 }],
    });
  if (columns.has('tags')) expect(first?.tags).to.deep.equal({ project: 'p' });
  const query = { fromMs: startMs, toMs: startMs + 2 * hourMs, stepMs: hourMs };
  const whole = await store.ledger.usage({ ...query, by: null });
  expect(inHours(whole)).to.deep.equal([
    [0, '', 2, 200, 20],
    [1, '', 1, 100, 10],
  ]);
  const byKey = await store.ledger.usage({ ...query, by: 'key' });
  expect(inHours(byKey)).to.deep.equal([
    [0, 'k-full', 1, 100, 10],
    [0, 'k-plain', 1, 100, 10],
    [1, 'k-full', 1, 100, 10],
  ]);
  for (const by of ['slot', 'model', 'asked_model', 'format'] as const)
    expect((await store.ledger.usage({ ...query, by })).map(({ requests }) => requests)).to.deep.equal([
      2, 1,
    ]);
  await appendsOn(store, first!);
}

/** A request of today is added to the sums of before. */
async function appendsOn(store: WholeStore, row: LedgerRow): Promise<void> {
  const { trace: _, ...rest } = row;
  const added = { ...rest, id: 'r-new', atMs: startMs + 3 * hourMs };
  const errorTexts = { text: 'a new one', calls: [] };
  await store.ledger.append([{ ...added, errorTexts }]);
  expect(await store.errorTexts.find([row, added])).to.deep.equal(new Map([['r-new', errorTexts]]));
  const query = { fromMs: startMs, toMs: startMs + 4 * hourMs, stepMs: 4 * hourMs, by: 'key' } as const;
  const sums = await store.ledger.usage({ ...query, keyId: 'k-full' });
  expect(sums.reduce((total, { requests }) => total + requests, 0)).to.equal(3);
}

function inHours(sums: readonly UsageSum[]) {
  return sums.map(({ atMs, group, requests, billed }) => [
    (atMs - startMs) / hourMs,
    group,
    requests,
    billed.input,
    billed.output,
  ]);
}

const tokens = { accessToken: 'at', refreshToken: 'rt', origin: 'o' };
const slotParts = { settings: { upstream: 'messages' }, account: { kind: 'api-key', key: 'k' } };
const response = { id: 'resp_1', owner: 'k-full', input: [{ text: 'hi' }], response: { id: 'resp_1' } };
const ledgerRows = [
  { id: 'r-0', at: startMs, key_id: 'k-full' },
  { id: 'r-1', at: startMs + 1, key_id: 'k-plain' },
  { id: 'r-2', at: startMs + hourMs, key_id: 'k-full' },
] as const;

const tokenColumns = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output'].flatMap((kind) => [
  `${kind}_tokens`,
  `shown_${kind}_tokens`,
]);
const tokenValues: Values = {
  ...Object.fromEntries(tokenColumns.map((column) => [column, 0])),
  input_tokens: 100,
  shown_input_tokens: 90,
  output_tokens: 10,
  shown_output_tokens: 10,
};
const groups = { slot: 'a', model: 'sonnet-5', format: 'messages' };

/** Rows of every table that any version has had; a version takes the columns that it knows. */
async function rowsOf(): Promise<Readonly<Record<string, readonly Values[]>>> {
  const cipher = createCipher(secretKey);
  const key = { created_at: startMs, last_used_at: null, expires_at: null, revoked_at: null };
  const limits = { requests_per_minute: 5, tokens_per_minute: 6, tokens_per_day: 7, tokens_per_month: 8 };
  const full = {
    ...key,
    models: '["sonnet-*"]',
    note: 'of the team',
    max_concurrent: 9,
    slots: '["a"]',
    ...limits,
  };
  const sealed = { settings: settingsOf('a'), sealed_account: accountOf('a') };
  const body = JSON.stringify({ response: response.response });
  return {
    keys: [
      { ...full, id: 'k-full', name: 'full', hash: 'hash-full', last4: 'full' },
      { ...key, id: 'k-plain', name: 'plain', hash: 'hash-plain', last4: 'lain', revoked_at: startMs + 1 },
    ],
    deleted_keys: [{ id: 'k-gone', name: 'gone', deleted_at: Date.now() }],
    credentials: [{ slot_id: 'a', sealed: await cipher.seal(tokensOf('a'), tokens) }],
    slots: [
      {
        id: 'a',
        settings: await cipher.seal(sealed.settings, slotParts.settings),
        sealed_account: await cipher.seal(sealed.sealed_account, slotParts.account),
        created_at: startMs,
        updated_at: startMs + 1,
      },
    ],
    slot_states: [{ key: 'a/paused', value: 'true', expires_at: null }],
    sessions: [{ token_hash: 't', csrf_hash: 'c', created_at: startMs, expires_at: laterMs }],
    bindings: [{ sticky_key: 'sticky', slot_id: 'a', expires_at: laterMs }],
    responses: [
      {
        owner: 'k-full',
        id: 'resp_1',
        body,
        input: JSON.stringify(response.input),
        bytes: body.length,
        created_at: startMs,
        expires_at: laterMs,
      },
    ],
    plugin_values: [{ space: 'my-plugin', key: 'k', value: '"kept"', expires_at: null }],
    ledger: ledgerRows.map((row, at) => ({
      ...groups,
      ...tokenValues,
      ...row,
      request_id: `req-${at}`,
      status: 200,
      code: null,
      failed: 0,
      streamed: 1,
      attempts: 1,
      first_event_ms: 5,
      duration_ms: 50,
      tags: '{"project":"p"}',
      trace: '[[["auth",1]],[["a",40]]]',
    })),
    ledger_hours: ledgerRows.map((row) => ({ ...groups, ...sumOf(row.at), key_id: row.key_id })),
    ledger_sums: ledgerRows.flatMap(({ at, key_id: name }) => [
      { ...sumOf(at), kind: 'key', name },
      ...(name === 'k-full' ? sharedSums(at) : []),
    ]),
  };
}

function sumOf(at: number): Values {
  const hour = Math.floor(at / hourMs) * hourMs;
  const sums = { requests: 1, errors: 0, first_events: 1, first_event_ms_sum: 5, duration_ms_sum: 50 };
  return { ...tokenValues, ...sums, at: hour };
}

/** Sums of all requests of an hour, which have one slot, model and format. */
function sharedSums(at: number): readonly Values[] {
  const hour = Math.floor(at / hourMs) * hourMs;
  const count = ledgerRows.filter((row) => Math.floor(row.at / hourMs) * hourMs === hour).length;
  const numbers = Object.entries(sumOf(at)).map(([name, value]) => [
    name,
    name === 'at' ? value : Number(value) * count,
  ]);
  return Object.entries({ ...groups, asked_model: groups.model }).map(
    ([kind, name]) => ({ ...Object.fromEntries(numbers), kind, name }) as Values,
  );
}

interface Old {
  readonly tables: ReadonlySet<string>;
  readonly columns: (table: string) => ReadonlySet<string>;
}

/** Makes the tables as they were after so many migrations, with rows in each. */
async function fill(where: StoreSettings, migrated: number): Promise<Old> {
  if (where.kind === 'memory') throw new Error('It keeps nothing.');
  const db =
    where.kind === 'sqlite'
      ? await openSqlite(startSqliteThread(where.file))
      : (await openPostgres(where.url, quiet)).db;
  await migrate(db, where.kind, migrations.slice(0, migrated));
  const tables = new Map<string, ReadonlySet<string>>();
  for (const [table, rows] of Object.entries(await rowsOf())) {
    const columns = await columnsOf(db, where.kind, table);
    if (columns.size === 0) continue;
    tables.set(table, columns);
    const written = rows.filter(({ kind }) => kind !== 'asked_model' || tables.get('ledger')?.has(kind));
    for (const row of written) await insert(db, table, withOldBody(row, table, columns));
  }
  await db.destroy();
  return { tables: new Set(tables.keys()), columns: (table) => tables.get(table) ?? new Set() };
}

/** Before there was a column `input`, the body of a response held both. */
function withOldBody(row: Values, table: string, columns: ReadonlySet<string>): Values {
  const known = Object.fromEntries(Object.entries(row).filter(([column]) => columns.has(column)));
  if (table !== 'responses' || columns.has('input')) return known;
  return { ...known, body: JSON.stringify({ input: response.input, response: response.response }) };
}

async function columnsOf(
  db: Kysely<Tables>,
  kind: 'sqlite' | 'postgres',
  table: string,
): Promise<ReadonlySet<string>> {
  const query =
    kind === 'sqlite'
      ? sql<{ name: string }>`select name from pragma_table_info(${table})`
      : sql<{
          name: string;
        }>`select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = ${table}`;
  return new Set((await query.execute(db)).rows.map(({ name }) => name));
}

async function insert(db: Kysely<Tables>, table: string, row: Values): Promise<void> {
  const entries = Object.entries(row);
  const columns = sql.join(entries.map(([column]) => sql.ref(column)));
  const values = sql.join(entries.map(([, value]) => value));
  await sql`insert into ${sql.table(table)} (${columns}) values (${values})`.execute(db);
}
