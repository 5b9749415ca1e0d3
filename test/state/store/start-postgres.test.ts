import { expect } from 'chai';
import { Client } from 'pg';
import { fakeHost } from '@gw2api/gateway/testing';
import { openStore } from '#src/state/store/index.js';
import type { StoreSettings } from '#src/state/store/contract/settings.js';
import { StoreError } from '#src/state/store/store-error.js';
import { OwnPostgres } from './own-postgres.js';
import { postgresUrl, quiet } from './stores.js';

/** Role and database of each test. */
const name = 'gw_start';

(postgresUrl === undefined ? describe.skip : describe)('a start with PostgreSQL', function () {
  this.timeout(60_000);
  let server: OwnPostgres;
  before(async () => {
    server = await OwnPostgres.make(postgresUrl!);
  });
  after(() => server.remove());

  describe('that cannot be used', () => {
    const settings = (database: string, user = 'gw', options = ''): StoreSettings & { kind: 'postgres' } => {
      const url = new URL(server.url);
      url.username = user;
      url.pathname = database;
      return { kind: 'postgres', url: `${url.href}${options}` };
    };
    const onServer = async (text: string, database = 'postgres') => {
      const client = new Client({ connectionString: settings(database).url });
      await client.connect();
      await client.query(text);
      await client.end();
    };
    before(async () => {
      await server.start();
      await onServer(`create role ${name} login password 'hidden'`);
    });
    after(() => server.stop());
    beforeEach(() => onServer(`create database ${name}`));
    afterEach(() => onServer(`drop database if exists ${name} with (force)`));

    /** The one sentence of a start that ends. */
    async function refusalOf(where: StoreSettings, log = quiet): Promise<string> {
      try {
        await (await openStore(where, { log, waitMs: 0 })).close();
      } catch (error) {
        if (error instanceof StoreError) return error.message.replaceAll(name, 'NAME').replace(/:\d+ /, ' ');
        throw error;
      }
      return 'it was opened';
    }

    const where = 'PostgreSQL at 127.0.0.1';

    it('names the right that is missing in the schema public', async () => {
      expect(await refusalOf(settings(name, name))).to.equal(
        `${where} does not let "NAME" create tables in the schema "public"; grant it (grant create on schema "public" to "NAME"), or name another schema (?options=-c search_path=NAME).`,
      );
    });

    it('names a table that may not be written, and needs no right to make some where all are there', async () => {
      await (await openStore(settings(name), { log: quiet })).close();
      await onServer(`grant select on all tables in schema public to ${name}`, name);
      expect(await refusalOf(settings(name, name))).to.match(
        /does not let "NAME" read and write the table "bindings"; grant/,
      );
      await onServer(`grant insert, update, delete on all tables in schema public to ${name}`, name);
      expect(await refusalOf(settings(name, name))).to.equal('it was opened');
      await onServer(`delete from migrations where name > '0022'`, name);
      await onServer(`drop table migration_versions`, name);
      await onServer(`grant create on schema public to ${name}`, name);
      expect(await refusalOf(settings(name, name))).to.equal(
        `${where} cannot be used (must be owner of table keys); start the gateway once as the owner of the tables, or make this user their owner.`,
      );
    });

    it('says that the server is read-only by a setting', async () => {
      await onServer(`alter role ${name} set default_transaction_read_only = on`);
      const refusal = await refusalOf(settings(name, name));
      await onServer(`alter role ${name} reset all`);
      expect(refusal).to.equal(
        `${where} is read-only by default_transaction_read_only; name the server that accepts writes.`,
      );
    });

    it('names the schema of the search path that does not exist', async () => {
      expect(await refusalOf(settings(name, 'gw', '?options=-c search_path=elsewhere'))).to.equal(
        `${where} has no schema for "gw" in the database "NAME"; create the one that search_path names (create schema NAME authorization "gw").`,
      );
    });

    it('says that the disk is full, as the server does', async () => {
      await onServer(
        `create function full_disk() returns event_trigger language plpgsql as
        $$ begin raise exception using errcode = '53100', message = 'could not extend file: No space left on device'; end $$;
      create event trigger full_disk on ddl_command_start execute function full_disk()`,
        name,
      );
      expect(await refusalOf(settings(name))).to.equal(
        `${where} cannot be used (could not extend file: No space left on device); free space on its disk.`,
      );
    });

    it('says how to create a database that does not exist, and what to do with tables of another program', async () => {
      expect(await refusalOf(settings('gw_nowhere'))).to.match(
        /\(database "gw_nowhere" does not exist\); create it \(create database NAME encoding 'UTF8' template template0\)\.$/,
      );
      await onServer('create table keys (id int)', name);
      expect(await refusalOf(settings(name))).to.match(
        /\(relation "keys" already exists\); another program uses this schema: use a separate one \(\?options=-c search_path=NAME\)\.$/,
      );
      await onServer(
        'drop table keys; create table migrations (id int); insert into migrations values (1)',
        name,
      );
      expect(await refusalOf(settings(name))).to.match(/another program uses this schema/);
    });

    for (const encoding of ['SQL_ASCII', 'LATIN1'])
      it(`refuses an empty database in ${encoding}, and warns of one in use`, async () => {
        await onServer(`drop database ${name}`);
        await onServer(`create database ${name} encoding '${encoding}' locale 'C' template template0`);
        expect(await refusalOf(settings(name))).to.equal(
          `${where} has the database "NAME" in ${encoding}, not in UTF8; recreate the database (create database "NAME" encoding 'UTF8' template template0).`,
        );
        await onServer('create table migrations (name text primary key)', name);
        await onServer(`insert into migrations values ('0001-first-tables')`, name);
        const host = fakeHost();
        await refusalOf(settings(name), host.log);
        expect(host.logged.map(({ message }) => message).join()).to.include(
          `in ${encoding}, not in UTF8; rows with`,
        );
      });
  });

  describe('that is not ready', () => {
    afterEach(() => server.stop());

    /** Starts, and resolves with the first line that says that the store is not ready. */
    function starting(url: string) {
      let told: (problem: string) => void;
      const line = new Promise<string>((resolve) => (told = resolve));
      const log = { ...quiet, warn: ({ problem = '' }: { problem?: string }) => told(problem) };
      const opened = openStore({ kind: 'postgres', url }, { log });
      return { line, opened };
    }

    it('waits while nothing listens there', async () => {
      const { line, opened } = starting(server.url);
      expect(await line).to.match(/^PostgreSQL at 127\.0\.0\.1:\d+ cannot be used \(connect ECONNREFUSED/);
      await server.start();
      await (await opened).close();
    });

    it('waits while it starts', async () => {
      await server.startStandby(false);
      const { line, opened } = starting(server.url);
      expect(await line).to.match(
        /cannot be used \(the database system is (?:starting up|not accepting connections)\)/,
      );
      await server.stop();
      await server.promote();
      await server.start();
      await (await opened).close();
    });

    it('waits for a host that is not found, no longer than it may', async () => {
      const host = fakeHost();
      const url = 'postgres://gw:hidden@gw2api.invalid/gw';
      const refusal = await openStore({ kind: 'postgres', url }, { log: host.log, waitMs: 700 }).catch(
        String,
      );
      expect(refusal).to.match(
        /gw2api\.invalid cannot be used \(getaddrinfo .*\); correct the host in `store:`\.$/,
      );
      expect(host.logged.map(({ message }) => message)).to.include(
        'The store is not ready; trying again, for 1 s at most.',
      );
      expect(JSON.stringify([host.logged, refusal])).to.not.include('hidden');
    });

    it('ends at once with a wrong password, and with a standby', async () => {
      await server.startStandby(true);
      const wrong = server.url.replace('hidden', 'wrong');
      const told: string[] = [];
      const log = { ...quiet, warn: (_: object, text?: string) => void told.push(String(text)) };
      expect(await openStore({ kind: 'postgres', url: wrong }, { log }).catch(String)).to.match(
        /\(password authentication failed for user "gw"\); correct the user and the password in `store:`\.$/,
      );
      expect(await openStore({ kind: 'postgres', url: server.url }, { log }).catch(String)).to.match(
        /is a standby, which is read-only; name the server that accepts writes\.$/,
      );
      expect(told).to.deep.equal([]);
      await server.promote();
    });
  });
});
