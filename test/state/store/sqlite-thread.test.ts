import { setImmediate as immediate } from 'node:timers/promises';
import { openDatabase } from '#src/state/store/sql/sqlite/driver.js';
import { expect } from 'chai';
import type { Store } from '#src/state/store/contract/store.js';
import { MemoryHub } from '@gw2api/gateway/testing';
import { Housekeeper } from '#src/state/store/housekeeper.js';
import { openStore } from '#src/state/store/index.js';
import { CompiledQuery, sql, type Kysely } from 'kysely';
import { openSqliteStore } from '#src/state/store/sql/sql-store.js';
import { openSqlite } from '#src/state/store/sql/sqlite/sqlite.js';
import { SqliteThread, startSqliteThread } from '#src/state/store/sql/sqlite/sqlite-thread.js';
import type { Tables } from '#src/state/store/sql/tables/tables.js';
import { createCipher } from '#src/state/store/credential-cipher.js';
import { livedMs } from '../../lived-ms.js';
import { key } from './conformance.js';
import { execWhenFree } from './exec-when-free.js';
import { row } from './ledger-conformance.js';
import { ownSqlite, quiet, type Place } from './stores.js';
import { clockAt } from '../../clock-at.js';

/** A query that takes some hundred milliseconds. */
const longQuery =
  'with recursive n (i) as (select 1 union all select i + 1 from n where i < 1000000) select max(i) from n';

describe('the thread of a SQLite file', () => {
  let place: Place<{ readonly kind: 'sqlite'; readonly file: string }>;
  beforeEach(async () => void (place = await ownSqlite()));
  afterEach(() => place.remove());

  describe('under a query builder', () => {
    let thread: SqliteThread;
    let db: Kysely<Tables>;
    const lost: Error[] = [];
    const put = (id: string, in_: Kysely<Tables> = db) =>
      sql`insert into sample (id) values (${id})`.execute(in_);
    const ids = async () => {
      const { rows } = await sql<{ readonly id: string }>`select id from sample order by id`.execute(db);
      return rows.map(({ id }) => id);
    };
    beforeEach(async () => {
      lost.length = 0;
      thread = new SqliteThread({ file: place.where.file, onLost: (error) => void lost.push(error) });
      db = await openSqlite(thread);
      await sql`create table sample (id text primary key)`.execute(db);
    });
    afterEach(() => db.destroy());

    it('leaves the event loop its turns while a long query runs', async () => {
      const query = db.executeQuery(CompiledQuery.raw(longQuery)).then(() => 'over');
      let turns = 0;
      for (let state = ''; state !== 'over'; turns += 1)
        state = await Promise.race([query, immediate('under way')]);
      expect(turns).to.be.greaterThan(10);
    });

    it('keeps what others write out of a transaction that is undone', async () => {
      let other: Promise<unknown> = Promise.resolve();
      const undone = db.transaction().execute(async (transaction) => {
        await put('of the transaction', transaction);
        other = put('of another');
        await put('of the transaction too', transaction);
        throw new Error('undone');
      });
      expect(await undone.catch((error: Error) => error.message)).to.equal('undone');
      await other;
      expect(await ids()).to.deep.equal(['of another']);
    });

    it('undoes a transaction that cannot be committed, and goes on', async () => {
      await sql`create table part (of text references sample (id) deferrable initially deferred)`.execute(db);
      const refused = db.transaction().execute(async (transaction) => {
        await put('whole', transaction);
        await sql`insert into part (of) values ('nothing')`.execute(transaction);
      });
      expect(await refused.catch((error: unknown) => error)).to.include({
        code: 'SQLITE_CONSTRAINT_FOREIGNKEY',
      });
      expect(await ids()).to.deep.equal([]);
    });

    it('brings a transaction to its end where too many wait', async () => {
      let others: readonly Promise<unknown>[] = [];
      await db.transaction().execute(async (transaction) => {
        await put('first', transaction);
        others = Array.from({ length: 10_000 }, (_, at) => put(`r${at}`).catch((error: unknown) => error));
        while (thread.fill.entries < thread.fill.capacity) await immediate();
        await put('last', transaction);
      });
      await Promise.all(others);
      expect(await ids()).to.include.members(['first', 'last']);
    });

    it('keeps what is written after a statement that has waited for the lock in vain', async () => {
      const other = openDatabase(place.where.file);
      await execWhenFree(other, 'begin immediate');
      expect(await put('in vain').catch((error: unknown) => error)).to.include({ code: 'SQLITE_BUSY' });
      other.exec('rollback');
      await put('kept');
      await db.transaction().execute((transaction) => put('kept too', transaction));
      expect(other.prepare('select id from sample').all()).to.deep.equal([
        { id: 'kept' },
        { id: 'kept too' },
      ]);
      other.close();
    });

    it('gives an error its code', async () => {
      await put('once');
      expect(await put('once').catch((error: unknown) => error)).to.include({
        code: 'SQLITE_CONSTRAINT_PRIMARYKEY',
      });
    });

    it('that dies fails what it owes, and is started again by the next statement', async () => {
      const begun = db.transaction().execute(async (transaction) => {
        await put('half', transaction);
        await thread.worker?.terminate();
        await put('other half', transaction);
      });
      expect(await begun.catch((error: unknown) => error)).to.include({ code: 'SQLITE_THREAD_ENDED' });
      expect(lost).to.have.length(1);
      await put('whole');
      expect(await ids()).to.deep.equal(['whole']);
      const query = db.executeQuery(CompiledQuery.raw(longQuery)).catch((error: unknown) => error);
      await thread.worker?.terminate();
      expect(await query).to.include({ code: 'SQLITE_THREAD_ENDED' });
      expect(await ids()).to.deep.equal(['whole']);
    });

    it('refuses a statement where too many wait', async () => {
      const query = db.executeQuery(CompiledQuery.raw(longQuery));
      const many = Array.from({ length: 10_100 }, (_, at) => put(`r${at}`).catch((error: unknown) => error));
      await query;
      const refused = (await Promise.all(many)).filter((answer) => answer instanceof Error);
      expect(refused[0]).to.include({ code: 'SQLITE_THREAD_FULL' });
      expect((await ids()).length + refused.length).to.equal(many.length);
    });
  });

  describe('under a store', () => {
    it('lets keys and bindings be looked up while a long query runs', async () => {
      const thread = startSqliteThread(place.where.file);
      const now = Date.now;
      const store = await openSqliteStore(thread, { cipher: createCipher(undefined), log: quiet, now });
      await store.keys.put(key('k'));
      await store.bindings.put('s', { slotId: 'a', expiresAtMs: now() + 60_000 });
      const query = thread.run({ kind: 'query', sql: longQuery, parameters: [] }, 0).then(() => 'query');
      const lookUps = Promise.all([store.keys.findByHash('hash of k'), store.bindings.get('s')]);
      expect(await Promise.race([query, lookUps.then(() => 'look-ups')])).to.equal('look-ups');
      const [found, binding] = await lookUps;
      expect(found?.id).to.equal('k');
      expect(binding?.slotId).to.equal('a');
      await query;
      await store.close();
    });

    it('gives the space of what is deleted back to the file system', async () => {
      const nowMs = Date.now();
      let laterMs = 0;
      const now = () => nowMs + laterMs;
      const store = await openStore(place.where, { log: quiet, now });
      await fill(store, nowMs + 1000);
      const pages = () => pragma(place.where.file, 'page_count');
      const full = pages();
      laterMs = 1000;
      const live = new MemoryHub().connect();
      const keeper = new Housekeeper({
        store,
        live,
        keepDays: { ledger: 90, audit: 365 },
        log: quiet,
        clock: clockAt(now),
      });
      await keeper.cleanUp();
      await keeper.close();
      await store.close();
      expect(pragma(place.where.file, 'freelist_count')).to.equal(0);
      expect(pages()).to.be.lessThan(full / 2);
    });
  });

  describe('whose file another program has locked', () => {
    it('says so at the start, after ten seconds', async function () {
      this.timeout(20_000);
      await (await openStore(place.where, { log: quiet })).close();
      const other = openDatabase(place.where.file);
      other.exec('pragma locking_mode = exclusive');
      other.exec('begin exclusive');
      let refusal: unknown;
      const open = async () => {
        refusal = await openStore(place.where, { log: quiet }).catch((error: unknown) => error);
      };
      expect(await livedMs(open)).to.be.within(3000, 14_000); // the lock is waited for though this thread stands still
      expect(String(refusal)).to.include(place.where.file).and.include('locked by another program');
      other.close();
    });

    it('says so to whoever writes, within two seconds, and goes on reading', async () => {
      const store = await openStore(place.where, { log: quiet });
      await store.keys.put(key('k'));
      const other = openDatabase(place.where.file);
      await execWhenFree(other, 'begin immediate');
      const writes = [
        () => store.keys.put(key('l')),
        () => store.keys.update('k', { name: 'other' }),
        () => store.ledger.append([row('1', 1)]),
      ];
      let answers: readonly unknown[] = [];
      const writeAll = async () => {
        answers = await Promise.all(writes.map((write) => write().catch((error: unknown) => error)));
      };
      expect(await livedMs(writeAll)).to.be.lessThan(2000);
      for (const answer of answers) {
        expect(answer).to.deep.include({ code: 'store_unavailable', headers: { 'retry-after': '1' } });
        expect(String(answer)).to.include('locked by another program');
      }
      expect(await store.keys.get('k')).to.deep.equal(key('k'));
      expect(await store.keys.findByHash('hash of k')).to.deep.equal(key('k'));
      other.exec('rollback');
      other.close();
      for (const write of writes) await write();
      expect((await store.keys.list()).map(({ id }) => id)).to.deep.equal(['k', 'l']);
      await store.close();
    });
  });
});

/** Some megabytes of responses. */
async function fill(store: Store, expiresAtMs: number): Promise<void> {
  const text = 'a line of an answer '.repeat(1000);
  for (let at = 0; at < 200; at += 1)
    await store.responses.put({ id: `r${at}`, owner: 'k', input: [text], response: {}, expiresAtMs });
}

function pragma(file: string, name: string): number {
  const database = openDatabase(file);
  const [found] = database.prepare(`pragma ${name}`).all() as [Readonly<Record<string, number>>]; // one row
  database.close();
  return found[name]!;
}
