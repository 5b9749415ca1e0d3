import { expect } from 'chai';
import { openStore } from '#src/state/store/index.js';
import type { StoreSettings } from '#src/state/store/contract/settings.js';
import { sql, type Kysely } from 'kysely';
import { openPostgres } from '#src/state/store/sql/postgres/postgres.js';
import { openSqlite } from '#src/state/store/sql/sqlite/sqlite.js';
import { startSqliteThread } from '#src/state/store/sql/sqlite/sqlite-thread.js';
import type { Tables } from '#src/state/store/sql/tables/tables.js';
import { ownPostgres, ownSqlite, postgresUrl, quiet, type Place } from './stores.js';

describe('the table of the audit log', () => {
  itRefusesUpdates('SQLite', ownSqlite);
  if (postgresUrl !== undefined) itRefusesUpdates('PostgreSQL', () => ownPostgres(postgresUrl!));
});

function itRefusesUpdates(name: string, makePlace: () => Promise<Place<StoreSettings>>): void {
  it(`refuses in ${name} to change an entry`, async () => {
    const { where, remove } = await makePlace();
    const store = await openStore(where, { log: quiet });
    const actor = { kind: 'master', name: 'master' } as const;
    await store.audit.append([{ id: 'a', atMs: 1, actor, action: 'key.create', outcome: 'done' }]);
    const db = await open(where);
    const change = sql`update audit set actor_name = 'nobody'`.execute(db);
    expect(String(await change.catch((error: unknown) => error))).to.include('append-only');
    const { entries } = await store.audit.page({}, { limit: 1 });
    expect(entries[0]?.actor).to.deep.equal(actor);
    await db.destroy();
    await store.close();
    await remove();
  });
}

async function open(where: StoreSettings): Promise<Kysely<Tables>> {
  if (where.kind === 'postgres') return (await openPostgres(where.url, quiet)).db;
  if (where.kind === 'sqlite') return openSqlite(startSqliteThread(where.file, quiet));
  throw new Error('Memory has no tables.');
}
