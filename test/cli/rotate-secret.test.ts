import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import { expect } from 'chai';
import { createCipher, keyIdOf } from '#src/state/store/credential-cipher.js';
import { openForMaintenance } from '#src/state/store/maintenance.js';
import { openStore } from '#src/state/store/index.js';
import type { StoreSettings } from '#src/state/store/contract/settings.js';
import { sql } from 'kysely';
import { openSqliteReader } from '#src/state/store/sql/sqlite/sqlite.js';
import { startSimulator } from '#plugins/upstreams/simulator/server.js';
import { eventually } from '../eventually.js';
import { ask, slotAt, startGateway, type GatewayUnderTest } from '../whole/harness.js';
import { ProcessWorkshop } from '../whole/gateway-process.js';
import { PanelClient } from '../whole/console/panel-client.js';
import { writeIn } from '../whole/temp-folders.js';
import { ownPostgres, ownSqlite, postgresUrl, quiet, type Place } from '../state/store/stores.js';

const oldKey = 'the key of last year';
const newKey = Buffer.alloc(32, 7).toString('base64');
const both = { secretKey: newKey, oldSecretKey: oldKey };
const slotIds = Array.from({ length: 400 }, (_, at) => `t-${String(at).padStart(4, '0')}`);
/** Slots of a store whose rotation nobody has to catch on its way. */
const few = slotIds.slice(0, 20);
const tokensOf = (slotId: string) => ({ accessToken: `access ${slotId}`, refreshToken: 'r', origin: 'o' });

describe('gw2api rotate-secret', function () {
  this.timeout(120_000);
  const workshop = new ProcessWorkshop();
  afterEach(() => workshop.end());

  describe('with SQLite', () => itRotates(workshop, 'spawn', () => ownSqlite()));
  if (postgresUrl !== undefined)
    describe('with PostgreSQL', () => itRotates(workshop, 'run', () => ownPostgres(postgresUrl!)));

  it('encrypts recordings anew, a part of which a run before may have done', async () => {
    const folder = await recordedFolder(workshop);
    const [old, next] = [createCipher(oldKey), createCipher(newKey)];
    const names = Array.from({ length: 20 }, (_, at) => `${1000 + at}-100-r${at}.gwrec`);
    for (const [at, name] of names.entries())
      await writeIn(folder, `data/recorded/${name}`, await (at < 5 ? next : old).seal('a recording', { at }));
    await writeIn(folder, `data/recorded/${names[7]}.new`, 'the half of a file that a run before has left');
    await writeIn(
      folder,
      'data/recorded/3000-10-foreign.gwrec',
      await createCipher('another').seal('a recording', 1),
    );

    const first = await rotate(workshop, folder);
    expect(first.stdout).to.match(
      /15 re-encrypted, 20 now under the new key, 1 not\n.*3000-10-foreign.gwrec: Neither GW_SECRET_KEY nor/,
    );
    expect(first.code).to.equal(1);
    for (const [at, name] of names.entries()) {
      const text = await readFile(path.join(folder, 'data/recorded', name), 'utf8');
      expect(await next.open('a recording', text)).to.deep.equal({ at });
    }
    expect(
      (await readdir(path.join(folder, 'data/recorded'))).filter((name) => name.endsWith('.new')),
    ).to.deep.equal([]);
    expect(await readFile(path.join(folder, 'data/recorded/audit.log'), 'utf8')).to.include('"rotate"');
  });

  it('says which key is missing, and changes nothing', async () => {
    const folder = await recordedFolder(workshop);
    for (const [env, message] of [
      [{ GW_SECRET_KEY: newKey }, /^GW_SECRET_KEY_OLD is not set/],
      [{ GW_SECRET_KEY_OLD: oldKey }, /^GW_SECRET_KEY is not set/],
      [{ GW_SECRET_KEY: oldKey, GW_SECRET_KEY_OLD: oldKey }, /are the same key/],
    ] as const) {
      const { code, stderr } = await workshop.run({ args: ['rotate-secret'], cwd: folder, env });
      expect(stderr).to.match(message);
      expect(code).to.equal(2);
    }
  });
});

function itRotates(
  workshop: ProcessWorkshop,
  way: 'run' | 'spawn',
  makePlace: () => Promise<Place<StoreSettings>>,
): void {
  let place: Place<StoreSettings>;
  let folder: string;
  beforeEach(async () => {
    place = await makePlace();
    folder = await workshop.folder({ 'config/gateway.yaml': configOf(place.where) });
    await fill(few);
  });
  afterEach(async () => {
    await workshop.end();
    await place.remove();
  });

  async function fill(ids: readonly string[]): Promise<void> {
    const store = await openStore(place.where, { secretKey: oldKey, log: quiet });
    for (const slotId of ids) await store.credentials.put(slotId, tokensOf(slotId));
    await store.close();
  }

  it('encrypts all of a store anew, even if it is killed on its way, while a gateway serves from it', async () => {
    await fill(slotIds.slice(few.length));
    const simulator = await startSimulator({});
    const config = { slots: [slotAt(simulator.url, { models: ['haiku-*'] })], store: addressOf(place.where) };
    await enterSlot(config, simulator.url);
    const under = await startGateway(config, {}, Date.now, both);
    const load = new Load(under);

    const args = ['--config', path.join(folder, 'config/gateway.yaml'), 'rotate-secret'];
    const env = { GW_SECRET_KEY: newKey, GW_SECRET_KEY_OLD: oldKey };
    const killed = await workshop.start({ args, env, cwd: folder });
    await eventually(async () => (await keysIn(place.where)).get(idOf(newKey)!) !== undefined);
    killed.signal('SIGKILL');
    await killed.ended;

    await readsAll(place.where, both);
    const finished = await workshop.run({ args, env, cwd: folder });
    expect(finished, finished.stderr).to.include({ code: 0 });
    expect(finished.stdout)
      .to.include(`${slotIds.length + 2} now under the new key`)
      .and.include('remove GW_SECRET_KEY_OLD');
    expect([...(await keysIn(place.where)).keys()]).to.deep.equal([idOf(newKey)]);
    await load.more(10);
    expect(await load.end()).to.deep.equal([]);
    const again = await workshop[way]({ args, env, cwd: folder });
    expect(again.stdout).to.include(`0 re-encrypted, ${slotIds.length + 2} now`);

    await under.close();
    await readsAll(place.where, { secretKey: newKey });
    const after = await startGateway(config, {}, Date.now, { secretKey: newKey });
    expect(await answerOf(after)).to.equal('b');
    await after.close();
    await simulator.close();
  });

  it('takes up what a gateway has still sealed with the old key, and names what no key opens', async () => {
    const foreign = await openStore(place.where, { secretKey: 'a third key', log: quiet });
    await foreign.credentials.put('t-foreign', tokensOf('x'));
    await foreign.close();
    const result = await rotate(workshop, folder);
    expect(result.code).to.equal(1);
    expect(result.stdout).to.include('1 not').and.include('the OAuth tokens of slot "t-foreign"');
    const late = await openStore(place.where, { secretKey: oldKey, log: quiet });
    await late.credentials.put('t-0003', tokensOf('t-0003'));
    await late.credentials.delete('t-foreign');
    await late.close();
    const second = await rotate(workshop, folder);
    expect(second.code, second.stdout + second.stderr).to.equal(0);
    expect(second.stdout).to.include(`1 re-encrypted, ${few.length} now`);
    await readsAll(place.where, { secretKey: newKey }, few);
  });

  it('names plugins that keep values under the old key', async () => {
    const store = await openStore(place.where, { secretKey: oldKey, log: quiet });
    const text = JSON.stringify({ token: await createCipher(oldKey).seal('of a plugin', 1) });
    await store.spaces.put('my-plugin', { key: 'k', text }, 10);
    await store.close();
    const { code, stdout } = await rotate(workshop, folder);
    expect(stdout).to.include('1 values of the plugin "my-plugin"');
    expect(code).to.equal(1);
  });
}

/** Callers that ask the slot of the console without a pause. */
class Load {
  readonly #faults: unknown[] = [];
  readonly #callers: readonly Promise<void>[];
  #count = 0;
  #isOver = false;

  constructor(under: GatewayUnderTest) {
    this.#callers = [1, 2].map(() => this.#call(under));
  }

  async more(count: number): Promise<void> {
    const goal = this.#count + count;
    await eventually(() => this.#count >= goal, 30_000);
  }

  async end(): Promise<readonly unknown[]> {
    this.#isOver = true;
    await Promise.all(this.#callers);
    return this.#faults;
  }

  async #call(under: GatewayUnderTest): Promise<void> {
    const panel = new PanelClient(under.url);
    while (!this.#isOver) {
      const slot = await answerOf(under).catch(String);
      if (slot !== 'b') this.#faults.push(slot);
      const changed = await panel.ask('PATCH', '/slots/b', { weight: 1 + (this.#count % 5) });
      if (changed.id !== 'b') this.#faults.push(changed);
      this.#count += 1;
    }
  }
}

/** The slot that has answered; only b has the model. */
async function answerOf(under: GatewayUnderTest): Promise<unknown> {
  const response = await under.post('/v1/messages', ask('Hello!'));
  const body = await response.text();
  return response.headers.get('x-gw-slot') ?? body;
}

async function enterSlot(config: Readonly<Record<string, unknown>>, baseUrl: string): Promise<void> {
  const under = await startGateway(config, {}, Date.now, { secretKey: oldKey });
  const account = { kind: 'api-key', key: 'upstream-key-b' };
  await new PanelClient(under.url).ask('POST', '/slots', { id: 'b', upstream: 'messages', baseUrl, account });
  await under.close();
}

function rotate(workshop: ProcessWorkshop, cwd: string) {
  const env = { GW_SECRET_KEY: newKey, GW_SECRET_KEY_OLD: oldKey };
  return workshop.run({ args: ['rotate-secret'], cwd, env });
}

async function recordedFolder(workshop: ProcessWorkshop): Promise<string> {
  return workshop.folder({ 'config/gateway.yaml': configOf({ kind: 'memory' }) });
}

function configOf(where: StoreSettings): object {
  const slots = [{ id: 'a', upstream: 'simulator' }];
  const pipeline = ['auth', 'body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'];
  return { pipeline: pipeline.map((use) => ({ use })), slots, store: addressOf(where) };
}

function addressOf(where: StoreSettings): string {
  if (where.kind === 'memory') return 'memory';
  return where.kind === 'sqlite' ? `sqlite:${where.file}` : where.url;
}

async function readsAll(
  where: StoreSettings,
  keys: { secretKey: string; oldSecretKey?: string },
  ids = slotIds,
): Promise<void> {
  const store = await openStore(where, { ...keys, log: quiet });
  for (const slotId of ids) expect(await store.credentials.get(slotId)).to.deep.equal(tokensOf(slotId));
  for (const { problem } of await store.slots.list()) expect(problem).to.equal(undefined);
  await store.close();
}

const keyIds = new Map<string, string | undefined>();
before(async () => {
  for (const key of [oldKey, newKey]) keyIds.set(key, keyIdOf(await createCipher(key).seal('', 1)));
});
const idOf = (key: string) => keyIds.get(key);

/** Ids of the keys that have sealed something in any column of any table, with their number. */
async function keysIn(where: StoreSettings): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const row of await rowsOf(where))
    for (const [, id = ''] of JSON.stringify(row).matchAll(/v1\.([\w-]{8})\.[\w-]{16}\./g))
      counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

async function rowsOf(where: StoreSettings): Promise<readonly unknown[]> {
  if (where.kind === 'postgres') return postgresRows(where.url);
  if (where.kind === 'memory') return [];
  const db = openSqliteReader(where.file);
  const tables = await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(db);
  const rows: unknown[] = [];
  for (const { name } of tables.rows)
    rows.push(...(await sql`select * from ${sql.table(name)}`.execute(db)).rows);
  await db.destroy();
  return rows;
}

async function postgresRows(url: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const tables = await client.query<{ name: string }>(
    'select tablename as name from pg_tables where schemaname = current_schema()',
  );
  const rows: unknown[] = [];
  for (const { name } of tables.rows) rows.push(...(await client.query(`select * from "${name}"`)).rows);
  await client.end();
  return rows;
}

describe('a store opened for maintenance', () => {
  it('is left as it is when it is only read, and reads a file beside which a gateway writes', async () => {
    const { where, remove } = await ownSqlite();
    const store = await openStore(where, { secretKey: oldKey, log: quiet });
    await store.credentials.put('a', tokensOf('a'));
    const open = () => openForMaintenance(where, { log: quiet, isReadOnly: true });
    const serving = await open();
    expect((await serving.sealed(createCipher(newKey, oldKey))).old).to.equal(1);
    await serving.close();
    await store.close();
    const files = await readdir(path.dirname(where.file));
    const maintained = await open();
    expect(await maintained.schema()).to.include({ state: 'current' });
    const { current, old, problems } = await maintained.sealed(createCipher(newKey));
    expect([current, old, problems.length]).to.deep.equal([0, 0, 1]);
    await maintained.close();
    expect(await readdir(path.dirname(where.file))).to.deep.equal(files);
    await remove();
  });
});
