import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { fakeHost } from '@gw2api/gateway/testing';
import { sql } from 'kysely';
import { openDatabase } from '#src/state/store/sql/sqlite/driver.js';
import { openStore } from '#src/state/store/index.js';
import type { StoreSettings } from '#src/state/store/contract/settings.js';
import { withOptionalTexts } from '#src/state/store/sql/ledger/append.js';
import { sqlLedger } from '#src/state/store/sql/ledger/ledger.js';
import { openSqlite } from '#src/state/store/sql/sqlite/sqlite.js';
import { cannotOpen } from '#src/state/store/sql/sqlite/sqlite-errors.js';
import { startSqliteThread } from '#src/state/store/sql/sqlite/sqlite-thread.js';
import { StoreError } from '#src/state/store/store-error.js';
import { version } from '#src/kit/version.js';
import { key } from './conformance.js';
import { row } from './ledger-conformance.js';
import {
  migratedSqlite,
  ownFolder,
  ownPostgres,
  ownSqlite,
  postgresUrl,
  quiet,
  secretKey,
  type Place,
} from './stores.js';

describe('opening a SQLite store', () => {
  itTakesSeveralAtOnce(ownSqlite);

  it('makes the file and its folder', async () => {
    const { where, remove } = await ownSqlite();
    await (await openStore(where, { log: quiet })).close();
    expect((await stat(where.file)).isFile()).to.equal(true);
    await remove();
  });

  it("makes them the operator's alone, and what SQLite writes beside the file too", async () => {
    const { where, remove } = await ownSqlite();
    const store = await openStore(where, { log: quiet });
    const modes = ['', '-wal', '-shm'].map(async (end) => (await stat(`${where.file}${end}`)).mode & 0o777);
    expect(await Promise.all(modes)).to.deep.equal([0o600, 0o600, 0o600]);
    expect((await stat(path.dirname(where.file))).mode & 0o777).to.equal(0o700);
    await store.close();
    await remove();
  });

  it('says that the disk is full, goes on reading, and writes once there is room', async () => {
    const { where, remove } = await migratedSqlite();
    const db = await openSqlite(startSqliteThread(where.file));
    const ledger = sqlLedger(db, 'sqlite', quiet);
    await ledger.append([row('before', 1)]);
    await sql`pragma max_page_count = 1`.execute(db); // which means: as large as it is
    const many = Array.from({ length: 500 }, (_, at) => row(`r${at}`, at));
    const refusal = await ledger.append(many).catch((error: Error) => error.message);
    expect(refusal).to.equal('database or disk is full');
    expect((await ledger.requests({}, { limit: 10 })).rows.map(({ id }) => id)).to.deep.equal(['before']);
    await sql`pragma max_page_count = 1000000`.execute(db);
    await ledger.append(many);
    expect((await ledger.requests({}, { limit: 1000 })).rows).to.have.length(501);
    await db.destroy();
    await remove();
  });

  it('writes rows whose error texts are refused without these, and quotes none of them', async () => {
    const { where, remove } = await migratedSqlite();
    const db = await openSqlite(startSqliteThread(where.file));
    await sql`drop table ledger_errors`.execute(db);
    const host = fakeHost();
    const errorTexts = { text: 'the marker', calls: [] };
    const ledger = sqlLedger(db, 'sqlite', host.log);
    await ledger.append([{ ...row('1', 1), errorTexts }, row('2', 2)]);
    expect((await ledger.requests({}, { limit: 10 })).rows).to.deep.equal([row('2', 2), row('1', 1)]);
    expect(host.logged.map(({ message }) => message)).to.deep.equal([
      'Error texts of requests could not be written; their rows are.',
    ]);
    expect(JSON.stringify(host.logged)).to.not.include('marker');
    await db.destroy();
    await remove();
  });

  it('writes the error texts of rows whose first write fails by a fault that passes', async () => {
    const { where, remove } = await migratedSqlite();
    const store = await openStore(where, { log: quiet });
    const host = fakeHost();
    let isFaulty = true;
    const append = withOptionalTexts(async (rows) => {
      if (isFaulty) {
        isFaulty = false;
        throw new Error('database is locked');
      }
      await store.ledger.append(rows);
    }, host.log);
    const errorTexts = { text: 'No.', calls: [] };
    const rows = [row('1', 1), row('2', 2)];
    await append([{ ...row('1', 1), errorTexts }, row('2', 2)]);
    expect(await store.errorTexts.find(rows)).to.deep.equal(new Map([['1', errorTexts]]));
    expect((await store.ledger.requests({}, { limit: 10 })).rows).to.deep.equal(rows.toReversed());
    const [sum] = await store.ledger.usage({ fromMs: 0, toMs: 3_600_000, stepMs: 3_600_000, by: null });
    expect(sum?.requests).to.equal(2);
    expect(host.logged).to.deep.equal([]);
    await store.close();
    await remove();
  });

  it('says that the file is read-only', async () => {
    const { where, remove } = await migratedSqlite();
    const db = await openSqlite(startSqliteThread(where.file));
    await sql`pragma query_only = on`.execute(db);
    const refusal = await sqlLedger(db, 'sqlite', quiet)
      .append([row('1', 1)])
      .catch((error: Error) => error.message);
    expect(refusal).to.equal('attempt to write a readonly database');
    await db.destroy();
    await remove();
  });

  it('has everything in the file itself once it is closed', async () => {
    const { where, remove } = await migratedSqlite();
    const store = await openStore(where, { log: quiet });
    await store.keys.put(key('k'));
    await store.ledger.append([row('1', 1)]);
    await store.close();
    const copy = { kind: 'sqlite', file: path.join(path.dirname(where.file), 'copy.db') } as const;
    await copyFile(where.file, copy.file);
    const second = await openStore(copy, { log: quiet });
    expect(await second.keys.get('k')).to.deep.equal(key('k'));
    expect((await second.ledger.requests({}, { limit: 2 })).rows).to.have.length(1);
    await second.close();
    await remove();
  });

  it('keeps what is in it', async () => {
    const { where, remove } = await migratedSqlite();
    const first = await openStore(where, { log: quiet });
    await first.keys.put(key('k'));
    await first.close();
    const second = await openStore(where, { log: quiet });
    expect(await second.keys.get('k')).to.deep.equal(key('k'));
    await second.close();
    await remove();
  });

  it('says which file it is that cannot be opened', async () => {
    const { where: folder, remove } = await ownFolder();
    const file = path.join(folder, 'file');
    await writeFile(file, 'this is no database, and it is long enough to be seen as none'.repeat(20));
    expect(await refusalOf({ kind: 'sqlite', file }))
      .to.include(file)
      .and.match(/not a database/);
    await remove();
  });

  it('says why a path takes no file, and what to do, soon', async () => {
    const { where: folder, remove } = await ownFolder();
    await writeFile(path.join(folder, 'file'), '');
    await mkdir(path.join(folder, 'folder'));
    spawnSync('mkfifo', [path.join(folder, 'pipe')]);
    for (const [file, told] of [
      ['/proc/data/gateway.db', 'that file system accepts no new files'],
      ['/proc/gateway.db', 'that file system accepts no new files'],
      ['/dev/null', 'a device, a pipe or a socket'],
      [`${folder}/pipe`, 'a device, a pipe or a socket'],
      [`${folder}/folder`, `name a file in it, as ${folder}/folder/gateway.db`],
      [`${folder}/file/gateway.db`, 'its folder is a file'],
    ] as const)
      expect(await refusalOf({ kind: 'sqlite', file }))
        .to.include(`The SQLite file ${file} cannot be opened`)
        .and.include(told);
    await remove();
  });

  it('says that this user may not write the folder or the file', async function () {
    if (!userCanRun()) return this.skip(); // the folder of Node or of this checkout is root's alone
    const { where: folder, remove } = await ownFolder();
    const file = path.join(folder, 'gateway.db');
    await (await openStore({ kind: 'sqlite', file }, { log: quiet })).close();
    await chmod(folder, 0o555);
    await chmod(file, 0o444);
    expect(await refusalAsUser(file)).to.include(`${file} cannot be opened (it is read-only`);
    const other = path.join(folder, 'other.db');
    expect(await refusalAsUser(other)).to.include(`${other} cannot be opened (permission denied`);
    await chmod(file, 0o000);
    expect(await refusalAsUser(file)).to.match(
      /cannot be opened \(.*make it and its folder .*writable for the user/,
    );
    await chmod(folder, 0o700);
    return remove();
  });

  it('says that the disk is full', () => {
    for (const code of ['SQLITE_FULL', 'ENOSPC'])
      expect(
        cannotOpen('/a/b.db', Object.assign(new Error('as the driver says it'), { code })).message,
      ).to.equal(
        'The SQLite file /a/b.db cannot be opened (the disk is full: as the driver says it); free some space, or name a file elsewhere.',
      );
  });

  it('leaves a file alone that a newer version has written', async () => {
    const { where, remove } = await migratedSqlite();
    await (await openStore(where, { log: quiet })).close();
    const database = openDatabase(where.file);
    database.exec(`insert into migrations values ('9999-from-the-future')`);
    database.close();
    expect(await refusalOf(where)).to.match(
      /newer version of gw2api \(it has "9999-from-the-future"\); use that one/,
    );
    await remove();
  });

  it('names the newer version that has written a file, with its commit', async () => {
    const { where, remove } = await migratedSqlite();
    await (await openStore(where, { log: quiet })).close();
    const database = openDatabase(where.file);
    const [last] = database
      .prepare('select version from migration_versions order by name desc limit 1')
      .all();
    expect(last).to.deep.equal({ version });
    database.exec(`insert into migrations values ('9999-later')`);
    database.exec(`insert into migration_versions values ('9999-later', '0.9.0+0123456789ab')`);
    database.close();
    expect(await refusalOf(where)).to.match(/\(it has "9999-later"\); use 0\.9\.0\+0123456789ab\.$/);
    await remove();
  });

  it('lets two connections write at once without an error', async () => {
    const { where, remove } = await migratedSqlite();
    const stores = await Promise.all([1, 2].map(() => openStore(where, { log: quiet })));
    const writes = stores.flatMap((store, nth) =>
      Array.from({ length: 100 }, (_, at) => store.ledger.append([row(`${nth} ${at}`, at)])),
    );
    await Promise.all(writes);
    const [sum] = await stores[0]!.ledger.usage({ fromMs: 0, toMs: 1, by: null, stepMs: 3_600_000 });
    expect(sum?.requests).to.equal(200);
    await Promise.all(stores.map((store) => store.close()));
    await remove();
  });
});

describe('opening a PostgreSQL store', () => {
  if (postgresUrl === undefined) it('is tested where GW_TEST_POSTGRES_URL names a server');
  else itTakesSeveralAtOnce(() => ownPostgres(postgresUrl!));

  it('says where it was looked for, without the password', async () => {
    const refusal = await refusalOf({ kind: 'postgres', url: 'postgres://gw:secret@127.0.0.1:1/test' });
    expect(refusal).to.include('127.0.0.1:1').and.include('ECONNREFUSED').and.not.include('secret');
  });
});

describe('a credential in the store', () => {
  it('is not in the file as text, and is refused by name to another GW_SECRET_KEY', async () => {
    const { where, remove } = await migratedSqlite();
    const store = await openStore(where, { log: quiet, secretKey });
    await store.credentials.put('plan-1', { accessToken: 'plain-access', refreshToken: 'r', origin: 'o' });
    await store.close();
    const database = openDatabase(where.file);
    expect(JSON.stringify(database.prepare('select * from credentials').all())).to.not.include(
      'plain-access',
    );
    database.close();
    const other = await openStore(where, { log: quiet, secretKey: 'another' });
    const refusal = await other.credentials.get('plan-1').catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(StoreError);
    expect(String(refusal)).to.include('GW_SECRET_KEY').and.include('slot "plan-1"');
    await other.close();
    await remove();
  });
});

describe('a slot in the store', () => {
  it('is not in the file as text, and to another GW_SECRET_KEY it says what is the matter', async () => {
    const { where, remove } = await migratedSqlite();
    const store = await openStore(where, { log: quiet, secretKey });
    const settings = { upstream: 'messages', headers: { 'x-extra': 'plain-header' } };
    const account = { kind: 'api-key', key: 'plain-key' };
    await store.slots.put({ id: 'a', settings, account, createdAtMs: 1, updatedAtMs: 2 });
    await store.slots.update('a', { settings, account, updatedAtMs: 3 });
    await store.close();
    const database = openDatabase(where.file);
    expect(JSON.stringify(database.prepare('select * from slots').all())).to.not.match(/plain-(header|key)/);
    database.close();
    const other = await openStore(where, { log: quiet, secretKey: 'another' });
    await other.slots.put({ id: 'b', settings, account, createdAtMs: 1, updatedAtMs: 2 });
    const [a, b] = await other.slots.list();
    expect(a).to.deep.include({ id: 'a', settings: {}, account: {}, updatedAtMs: 3 });
    expect(a!.problem).to.include('GW_SECRET_KEY').and.include('slot "a"');
    expect(b).to.deep.include({ id: 'b', settings, account });
    expect(await other.slots.get('a')).to.deep.equal(a);
    await other.close();
    await remove();
  });
});

function itTakesSeveralAtOnce(makePlace: () => Promise<Place<StoreSettings>>): void {
  it('takes several at once in one process: one of them makes the tables', async () => {
    const { where, remove } = await makePlace();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore(where, { log: quiet })));
    await stores[0]!.keys.put(key('k'));
    expect(await stores[3]!.keys.get('k')).to.deep.equal(key('k'));
    await Promise.all(stores.map((store) => store.close()));
    await remove();
  });

  it('takes several processes at once', async () => {
    const { where, remove } = await makePlace();
    const ends = await Promise.all([1, 2, 3].map(() => openInChild(where)));
    expect(ends).to.deep.equal([0, 0, 0]);
    await remove();
  });
}

async function openInChild(where: StoreSettings): Promise<unknown> {
  const script = `
    const { openStore } = await import('#src/state/store/index.js');
    const store = await openStore(${JSON.stringify(where)}, { log: console });
    await store.keys.list();
    await store.close();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [unknown];
  return code;
}

/** Error of a process without the rights of root, which may write everywhere. */
async function refusalAsUser(file: string): Promise<string> {
  const script = `
    const { openStore } = await import('#src/state/store/index.js');
    const store = await openStore({ kind: 'sqlite', file: ${JSON.stringify(file)} }, { log: console })
      .catch(({ message }) => console.log(message));
    await store?.close();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...asUser(),
  });
  return text(child.stdout);
}

/** True if a user who is not root can run the store of this checkout. */
function userCanRun(): boolean {
  const script = `await import('#src/state/store/index.js')`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], asUser()).status === 0;
}

/** Options of a process whose user may not write everywhere: not root, if this one is. */
function asUser(): { readonly uid?: number; readonly gid?: number } {
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
}

const nobody = 65_534;

async function refusalOf(where: StoreSettings): Promise<string> {
  try {
    await (await openStore(where, { log: quiet, waitMs: 0 })).close();
  } catch (error) {
    if (error instanceof StoreError) return error.message;
    throw error;
  }
  return 'it was opened';
}
