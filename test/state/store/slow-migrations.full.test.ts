import { once, EventEmitter } from 'node:events';
import { expect } from 'chai';
import { Client } from 'pg';
import { openStore } from '#src/state/store/index.js';
import { sql } from 'kysely';
import { migrate } from '#src/state/store/sql/tables/migrate.js';
import { migratePostgres } from '#src/state/store/sql/postgres/migrate-postgres.js';
import { migrations } from '#src/state/store/sql/tables/migrations.js';
import { openForMigration } from '#src/state/store/sql/postgres/postgres.js';
import { ownPostgres, postgresUrl, quiet, type Place } from './stores.js';

(postgresUrl === undefined ? describe.skip : describe)('a migration of PostgreSQL', function () {
  this.timeout(60_000);
  let place: Place<{ readonly kind: 'postgres'; readonly url: string }>;
  const clients: Client[] = [];
  beforeEach(async () => {
    place = await ownPostgres(postgresUrl!);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.end();
    await place.remove();
  });

  /** A session of its own with an open transaction. */
  async function session(name: string): Promise<Client> {
    const client = new Client({ connectionString: place.where.url, application_name: name });
    clients.push(client);
    await client.connect();
    await client.query('begin');
    return client;
  }

  /** A log whose next line can be waited for. */
  function telling() {
    const lines = new EventEmitter();
    const log = { ...quiet, info: (fields: object, text: string) => void lines.emit('line', fields, text) };
    return {
      log,
      next: () => once(lines, 'line') as Promise<[{ readonly waitsFor: readonly string[] }, string]>,
    };
  }

  it('waits for a session that reads a table, names it, and holds nobody up', async () => {
    const db = await openForMigration(place.where.url, quiet);
    await migrate(db, 'postgres', migrations.slice(0, 2));
    await db.destroy();
    const reader = await session('pg_dump');
    await reader.query('select * from ledger');
    const { log, next } = telling();
    const told = next();
    const opened = openStore(place.where, { log });
    opened.catch(() => undefined); // awaited below
    const [{ waitsFor }, text] = await Promise.race([
      told,
      opened.then(() => Promise.reject(new Error('It is open.'))),
    ]);
    expect(text).to.equal('Waiting to migrate the tables of PostgreSQL.');
    expect(waitsFor.join()).to.include('pg_dump');
    const other = await session('psql');
    await other.query("set local statement_timeout = '4s'");
    await other.query('select * from ledger');
    await other.query('commit');
    await reader.query('commit');
    await (await opened).close();
  });

  it('waits for another instance that migrates, and takes as long as its steps do', async () => {
    const long = {
      name: '9999-long',
      up: async (db: Parameters<(typeof migrations)[number]['up']>[0]) =>
        void (await sql`select pg_sleep(6)`.execute(db)),
    };
    const known = [...migrations, long];
    const both = await Promise.all([1, 2].map(() => openForMigration(place.where.url, quiet)));
    await Promise.all(both.map((db) => migratePostgres(db, known)));
    const { rows } = await sql<{ name: string }>`select name from migrations`.execute(both[0]!);
    expect(rows.map(({ name }) => name)).to.have.members(known.map(({ name }) => name));
    for (const db of both) await db.destroy();
  });

  it('keeps the steps before one that fails', async () => {
    const db = await openForMigration(place.where.url, quiet);
    const broken = { name: '9999-broken', up: () => Promise.reject(new Error('broken')) };
    const refusal = await migratePostgres(db, [...migrations.slice(0, 3), broken]).catch(String);
    expect(refusal).to.equal('Error: broken');
    const { rows } = await sql`select name from migrations`.execute(db);
    expect(rows).to.have.length(3);
    await db.destroy();
  });
});
