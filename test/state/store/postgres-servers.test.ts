import { expect } from 'chai';
import type { Client } from 'pg';
import type { WholeStore } from '#src/state/store/contract/store.js';
import { openStore } from '#src/state/store/index.js';
import { openForMaintenance } from '#src/state/store/maintenance.js';
import { openPostgres } from '#src/state/store/sql/postgres/postgres.js';
import { eventually } from '../../eventually.js';
import { key } from './conformance.js';
import { PostgresServer, postgresPrograms } from './postgres-server.js';
import { quiet } from './stores.js';

const isSkipped = postgresPrograms === undefined;
const title = isSkipped ? ' (skipped: no initdb, or no GW_TEST_POSTGRES_URL)' : '';

(isSkipped ? describe.skip : describe)(`a store on PostgreSQL servers${title}`, function () {
  this.timeout(60_000);
  let primary: PostgresServer;
  let standby: PostgresServer;
  let databases = 0;
  let database: string;
  const opened: WholeStore[] = [];
  const logged: { readonly level: string; readonly fields: object; readonly text: string }[] = [];
  const note = (level: string) => (fields: object, text: string) => void logged.push({ level, fields, text });
  const log = { ...quiet, warn: note('warn'), info: note('info') };

  before(async () => {
    primary = await PostgresServer.start();
    standby = await primary.standby();
    await primary.query('create role gw login', 'create role few login connection limit 3');
  });
  after(() => Promise.all([primary?.stop(), standby?.stop()]));
  beforeEach(async () => {
    logged.length = 0;
    database = `db${(databases += 1)}`;
    await primary.query(`create database ${database}`);
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    await setReadOnly(primary, false);
  });

  async function open(url: string, pool?: number): Promise<WholeStore> {
    const store = await openStore({ kind: 'postgres', url, ...(pool !== undefined && { pool }) }, { log });
    opened.push(store);
    return store;
  }

  /** What callers are told. */
  async function refusal(work: () => Promise<unknown>): Promise<string> {
    return work().then(
      () => 'none',
      (error: Error) => error.message,
    );
  }

  const isTold = (store: WholeStore, text: string) =>
    eventually(async () => (await refusal(() => store.keys.put(key('told')))).includes(text));

  const setReadOnly = (server: PostgresServer, isOn: boolean) =>
    server.query(
      `alter system set default_transaction_read_only = ${isOn ? 'on' : 'off'}`,
      'select pg_reload_conf()',
    );

  describe('of which one becomes read-only', () => {
    it('says so, also to those who only read, until it takes writes again', async () => {
      const store = await open(primary.url(database));
      await store.keys.put(key('k'));
      await setReadOnly(primary, true);
      await isTold(store, 'The store cannot be used right now: it is read-only.');
      await eventually(async () =>
        (await refusal(() => store.keys.findByHash('other'))).includes('read-only'),
      );
      expect(store.isDown).to.equal(true);
      await setReadOnly(primary, false);
      await eventually(() => !store.isDown);
      expect(await store.keys.findByHash('hash of k')).to.deep.equal(key('k'));
      expect(logged.map(({ text }) => text.replace(/:\d+/, ''))).to.include(
        'PostgreSQL at 127.0.0.1 answers again.',
      );
    });

    it('is found out by its probe where nobody writes', async () => {
      const { db, probe } = await openPostgres(primary.url(database), quiet);
      await probe();
      await setReadOnly(primary, true);
      await eventually(async () => (await refusal(probe)).startsWith('it is read-only'));
      await setReadOnly(primary, false);
      await eventually(async () => (await refusal(probe)) === 'none');
      await db.destroy();
    });

    it('does not open, but for the doctor', async () => {
      await setReadOnly(primary, true);
      expect(await refusal(() => open(primary.url(database)))).to.match(
        /^PostgreSQL at 127\.0\.0\.1:\d+ is read-only by default_transaction_read_only; name the server that accepts writes/,
      );
      const where = { kind: 'postgres', url: primary.url(database) } as const;
      const read = await openForMaintenance(where, { log: quiet, isReadOnly: true });
      expect(await read.schema()).to.include({ state: 'empty' });
      await read.close();
    });
  });

  it('says that its database was dropped', async () => {
    const store = await open(primary.url(database));
    await primary.query(`drop database ${database} with (force)`);
    await isTold(store, 'right now: it has no such database.');
  });

  it('says that it lacks a right, until that is granted', async () => {
    await primary.query(`alter database ${database} owner to gw`);
    const store = await open(primary.url(database, 'gw'));
    const admin = await primary.client(database);
    await admin.query('revoke insert on keys from gw');
    await isTold(store, 'right now: the gateway lacks a privilege in it.');
    expect(store.isDown).to.equal(false);
    await admin.query('grant insert on keys to gw');
    await store.keys.put(key('k'));
    await admin.end();
  });

  it('verifies each host by its own name in TLS, and takes a Unix socket', async () => {
    const warnings: string[] = [];
    const warned = ({ message }: Error) => void warnings.push(message);
    process.on('warning', warned);
    const to = (hosts: string, query: string) =>
      refusal(() => open(`postgres://root@${hosts}/${database}?${query}`));
    const [address, name] = [`127.0.0.1:${primary.port}`, `localhost:${primary.port}`];
    const given = `sslrootcert=${encodeURIComponent(primary.certificate)}`;
    expect(await to(name, `sslmode=verify-full&${given}`)).to.equal('none');
    expect(await to(address, `sslmode=verify-full&${given}`)).to.include(
      "IP: 127.0.0.1 is not in the cert's list",
    );
    expect(await to(address, `sslmode=verify-ca&${given}`)).to.equal('none');
    expect(await to(`${address},${name}`, `sslmode=require&${given}`)).to.equal('none');
    expect(await to(name, 'sslmode=require')).to.include('self-signed certificate');
    expect(await to(name, 'sslmode=no-verify')).to.equal('none');
    expect(await to(name, 'sslmode=verify-full&sslrootcert=/no/such.pem')).to.include(
      'sslrootcert: the file /no/such.pem cannot be read (ENOENT)',
    );
    const socket = `postgres://root:a%40b@/${database}?host=${primary.sockets}&port=${primary.port}&sslmode=require`;
    expect(await refusal(() => open(socket))).to.equal('none');
    process.off('warning', warned);
    expect(warnings).to.deep.equal([]);
  });

  describe('that allow few connections', () => {
    let locker: Client;
    beforeEach(async () => {
      await primary.query(`alter database ${database} owner to few`);
    });
    afterEach(() => locker?.end());

    /** Searches that wait for a lock of the ledger. */
    async function lockedSearches(store: WholeStore, count: number): Promise<readonly Promise<unknown>[]> {
      locker = await primary.client(database);
      await locker.query('begin');
      await locker.query('lock table ledger in access exclusive mode');
      return Array.from({ length: count }, () => store.ledger.requests({}, { limit: 1 }));
    }

    it('shares those, requests before searches, and says so once', async () => {
      const store = await open(primary.url(database, 'few'));
      await store.keys.put(key('k'));
      const searches = await lockedSearches(store, 10);
      for (let round = 0; round < 3; round += 1) {
        const found = await Promise.all(Array.from({ length: 40 }, () => store.keys.findByHash('hash of k')));
        expect(found.every((each) => each?.id === 'k')).to.equal(true);
      }
      await locker.query('commit');
      await Promise.all(searches);
      expect(store.isDown).to.equal(false);
      expect(logged).to.deep.equal([
        {
          level: 'warn',
          fields: { connections: 3, pool: 10 },
          text: 'PostgreSQL allows this process 3 of the 10 connections of `store.pool`; requests share them.',
        },
      ]);
    });

    it('waits while a search has the only one, and is not down for that', async () => {
      const store = await open(primary.url(database), 1);
      await store.keys.put(key('k'));
      const searches = await lockedSearches(store, 1);
      const found = store.keys.findByHash('hash of k');
      await locker.query('select pg_sleep(0.7)');
      await locker.query('commit');
      await Promise.all(searches);
      expect(await found).to.deep.equal(key('k'));
      expect(logged).to.deep.equal([]);
    });
  });

  it('moves to a standby that is promoted', async () => {
    const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
    const store = await open(`postgres://root@${hosts}/${database}?target_session_attrs=read-write`);
    await store.keys.put(key('before'));
    const place = await primary.query('select pg_current_wal_lsn() as lsn');
    await setReadOnly(primary, true);
    await eventually(async () => {
      const [row] = await standby.query(
        `select pg_last_wal_replay_lsn() >= '${String(place[0]!['lsn'])}' as is`,
      );
      return row!['is'] === true;
    });
    await isTold(store, 'it is read-only');
    await standby.query('select pg_promote()');
    await eventually(async () => (await refusal(() => store.keys.put(key('after')))) === 'none');
    expect(await store.keys.get('before')).to.deep.equal(key('before'));
    const there = await standby.client(database);
    expect((await there.query('select id from keys order by id')).rows).to.deep.include({ id: 'after' });
    await there.end();
    await eventually(async () => {
      const rows = await primary.query(`select 1 from pg_stat_activity where datname = '${database}'`);
      return rows.length === 0;
    });
    expect(logged.map(({ text }) => text)).to.include('PostgreSQL is now used on another host.');
  });
});
