import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { hasStableSqlite, openDatabase } from '#src/state/store/sql/sqlite/driver.js';
import { nameOfCode } from '#src/state/store/sql/sqlite/sqlite-codes.js';
import type { Database } from '#src/state/store/sql/sqlite/database.js';
import { TempFolders } from '../../whole/temp-folders.js';

describe('the SQLite library of this Node', () => {
  const folders = new TempFolders();
  let file: string;
  let database: Database;
  beforeEach(async () => {
    file = path.join(await folders.make(), 'a ? b%20.db');
    database = openDatabase(file);
    database.exec('create table t (id integer primary key, text text unique, bytes blob)');
  });
  afterEach(() => database.close());
  after(() => folders.remove());

  it('is the one of Node from 24.15 and 25.7 on', () => {
    const versions = ['20.19.0', '22.22.0', '24.14.9', '24.15.0', '25.6.1', '25.7.0', '26.0.0'];
    expect(versions.filter(hasStableSqlite)).to.deep.equal(['24.15.0', '25.7.0', '26.0.0']);
  });

  it('binds numbers, strings, buffers, null, and undefined as null', () => {
    const insert = database.prepare('insert into t values (?, ?, ?)');
    expect(insert.isReading).to.equal(false);
    expect(insert.run([1, 'a', Buffer.from('b')])).to.equal(1);
    expect(insert.run([2, null, undefined])).to.equal(1);
    const select = database.prepare('select id, text, hex(bytes) as bytes from t where id < ?');
    expect(select.isReading).to.equal(true);
    expect(select.all([3])).to.deep.equal([
      { id: 1, text: 'a', bytes: '62' },
      { id: 2, text: null, bytes: '' },
    ]);
    expect(database.prepare('delete from t').run()).to.equal(2);
  });

  it('takes no object for names of parameters', () => {
    const insert = database.prepare('insert into t (id, text) values (?, ?)');
    expect(() => insert.run([{ id: 1 }, 'a'])).to.throw(/bind/);
  });

  it('rounds an integer that no double holds', () => {
    const select = database.prepare('select 9007199254740993 as sum, 1 as one');
    expect(select.all()).to.deep.equal([{ sum: 9_007_199_254_740_992, one: 1 }]);
    expect(database.prepare('select 1 as one').all()).to.deep.equal([{ one: 1 }]);
  });

  it('runs once what writes, though it returns an integer that no double holds', () => {
    const counts = 'create table counts (n integer); create table runs (n integer)';
    const trigger = 'create trigger each after insert on counts begin insert into runs values (1); end';
    database.exec(`${counts}; ${trigger}`);
    const rounded = [{ n: 9_007_199_254_740_992 }];
    for (const insert of [
      'with one as (select 9007199254740993 as n) insert into counts select n from one returning n',
      'insert into counts values (9007199254740993) returning n',
    ])
      expect(database.prepare(insert).all()).to.deep.equal(rounded);
    expect(database.prepare('select count(*) as n from runs').all()).to.deep.equal([{ n: 2 }]);
    expect(database.prepare('with one as (select n from counts) select n from one').all()[0]).to.deep.equal(
      rounded[0],
    );
  });

  it('names errors by their extended code', () => {
    database.exec(`insert into t (id, text) values (1, 'a')`);
    const codeOf = (sql: string) => codeThrown(() => database.prepare(sql).run());
    expect(codeOf(`insert into t (id) values (1)`)).to.equal('SQLITE_CONSTRAINT_PRIMARYKEY');
    expect(codeOf(`insert into t (text) values ('a')`)).to.equal('SQLITE_CONSTRAINT_UNIQUE');
    expect(codeOf('select nothing')).to.equal('SQLITE_ERROR');
    expect(codeThrown(() => openDatabase(path.join(file, 'below')))).to.match(/^SQLITE_CANTOPEN/);
  });

  it('says what is no database', async () => {
    await writeFile(`${file}.txt`, 'this is a text, and longer than the header of a database'.repeat(20));
    const other = openDatabase(`${file}.txt`);
    expect(codeThrown(() => other.prepare('select * from sqlite_master').all())).to.equal('SQLITE_NOTADB');
    other.close();
  });

  it('waits for no lock, and knows an open transaction', () => {
    const other = openDatabase(file);
    other.exec('begin immediate');
    expect([other.isInTransaction, database.isInTransaction]).to.deep.equal([true, false]);
    expect(codeThrown(() => database.exec('begin immediate'))).to.equal('SQLITE_BUSY');
    other.exec('rollback');
    expect(other.isInTransaction).to.equal(false);
    other.close();
  });

  it('commits what is written after a busy statement', () => {
    const other = openDatabase(file);
    other.exec('begin immediate');
    const insert = database.prepare('insert into t (text) values (?)');
    expect(codeThrown(() => insert.run(['in vain']))).to.equal('SQLITE_BUSY');
    other.exec('rollback');
    expect(insert.run(['kept'])).to.equal(1);
    expect(other.prepare('select text from t').all()).to.deep.equal([{ text: 'kept' }]);
    other.close();
  });

  for (const isImmutable of [false, true])
    it(`reads a file ${isImmutable ? 'that changes no more' : 'as it changes'}, and writes none`, () => {
      database.exec(`insert into t (text) values ('a')`);
      const reader = openDatabase(file, { isReadOnly: true, isImmutable });
      expect(reader.prepare('select text from t').all()).to.deep.equal([{ text: 'a' }]);
      expect(codeThrown(() => reader.exec('delete from t'))).to.match(/^SQLITE_READONLY/);
      reader.close();
    });

  it('is asked for where libsql is needed and missing', () => {
    const hidden = `
      import module from 'node:module';
      import { openByLibsql } from '#src/state/store/sql/sqlite/libsql.js';
      import { cannotOpen } from '#src/state/store/sql/sqlite/sqlite-errors.js';
      const resolve = module._resolveFilename;
      module._resolveFilename = (name, ...others) => resolve(name === 'libsql' ? 'no-such-package' : name, ...others);
      try { openByLibsql('a.db'); } catch (error) { console.log(cannotOpen('a.db', error).message); }`;
    expect(runModule(hidden)).to.equal(
      'The SQLite file a.db cannot be opened (the package libsql is not installed, which SQLite needs on Node before 24.15); ' +
        'install it (npm install libsql), or run Node 24.15 or newer.',
    );
  });

  it('opens what the other one has closed, and the other way round', function () {
    if (!hasStableSqlite(process.versions.node)) return this.skip(); // this Node has one library alone
    database.exec(`pragma journal_mode = wal; insert into t (text) values ('by Node')`);
    database.close();
    const script = `
      import { openByLibsql } from '#src/state/store/sql/sqlite/libsql.js';
      const database = openByLibsql(process.argv[1]);
      database.exec("insert into t (text) values ('by libsql')");
      console.log(JSON.stringify(database.prepare('select text from t').all()));
      database.close();`;
    const rows = [{ text: 'by Node' }, { text: 'by libsql' }];
    expect(JSON.parse(runModule(script, file))).to.deep.equal(rows);
    database = openDatabase(file);
    expect(database.prepare('select text from t').all()).to.deep.equal(rows);
  });
});

describe('nameOfCode', () => {
  it('has the extended code, or the primary one', () => {
    const names = [5, 517, 778, 26, 5 + 256 * 99, 99].map(nameOfCode);
    expect(names).to.deep.equal([
      'SQLITE_BUSY',
      'SQLITE_BUSY_SNAPSHOT',
      'SQLITE_IOERR_WRITE',
      'SQLITE_NOTADB',
      'SQLITE_BUSY',
      'SQLITE_ERROR',
    ]);
  });
});

/** What a module of this package writes, in a process of its own. */
function runModule(script: string, ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script, ...args]);
  return String(stdout).trim() || String(stderr);
}

function codeThrown(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return String((error as { code?: unknown }).code); // an error of SQLite has a code
  }
  return 'nothing thrown';
}
