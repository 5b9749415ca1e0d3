import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { fakeHost } from '@gw2api/gateway/testing';
import { LedgerWriter } from '#src/state/ledger/writer/ledger-writer.js';
import { RefusedRows } from '#src/state/ledger/writer/refused-rows.js';
import { Spool } from '#src/state/ledger/spool/spool.js';
import type { WholeStore } from '#src/state/store/contract/store.js';
import { openStore } from '#src/state/store/index.js';
import type { StoreSettings } from '#src/state/store/contract/settings.js';
import { row } from '../../store/ledger-conformance.js';
import { ownFolder, ownPostgres, ownSqlite, postgresUrl, quiet, type Place } from '../../store/stores.js';

describe('ledger rows that a store refuses for their content', () => {
  const stores: Readonly<Record<string, () => Promise<Place<StoreSettings>>>> = {
    SQLite: ownSqlite,
    ...(postgresUrl !== undefined && { PostgreSQL: () => ownPostgres(postgresUrl!) }),
  };
  /** A row of which a part is missing, as in a spool that somebody has edited. */
  const { billed: _, ...broken } = row('broken', 3);
  const refused = {
    SQLite: broken as ReturnType<typeof row>,
    PostgreSQL: row('nul', 3, { model: 'a\0b' }),
  };

  let folder: Place<string>;
  let place: Place<StoreSettings>;
  let store: WholeStore;
  afterEach(async () => {
    await store.close();
    for (const { remove } of [place, folder]) await remove();
  });

  const idsIn = async () => (await store.ledger.requests({}, { limit: 1000 })).rows.map(({ id }) => id);
  const setAside = async () => (await readdir(folder.where)).filter((name) => name.startsWith('refused-'));

  for (const [name, makePlace] of Object.entries(stores)) {
    const bad = refused[name as keyof typeof refused];

    it(`are set aside, counted and logged once, and hold up no other, in ${name}`, async () => {
      [folder, place] = [await ownFolder(), await makePlace()];
      store = await openStore(place.where, { log: quiet });
      const host = fakeHost();
      const rows = new RefusedRows({ ledger: store.ledger, folder: folder.where, log: host.log });
      const good = Array.from({ length: 20 }, (_, at) => row(`r${at}`, 100 + at));
      for (let times = 0; times < 2; times += 1)
        await rows.append([...good.slice(0, 7), bad, ...good.slice(7)]);
      expect(await idsIn()).to.have.members(good.map(({ id }) => id));
      const [file, ...others] = await setAside();
      expect(others).to.deep.equal([]);
      const text = await readFile(path.join(folder.where, file!), 'utf8');
      expect(text).to.equal(`${JSON.stringify(bad)}\n`);
      expect((await stat(path.join(folder.where, file!))).mode & 0o777).to.equal(0o600);
      expect(host.logged).to.have.length(1);
      expect(host.logged[0]).to.deep.include({
        level: 'error',
        message: 'The store refuses ledger rows for their content; they are set aside.',
      });
      expect(JSON.stringify(host.logged)).to.include(`"ids":["${bad.id}"]`).and.not.include('a\\u0000b');
      expect(rows.count).to.equal(1);
    });

    it(`do not keep a spool from being drained, and are not taken by a drain themselves, in ${name}`, async () => {
      [folder, place] = [await ownFolder(), await makePlace()];
      store = await openStore(place.where, { log: quiet });
      const lines = [row('before', 1), bad, row('after', 2)].map((each) => `${JSON.stringify(each)}\n`);
      const events = new EventTarget();
      const ledger = new RefusedRows({ ledger: store.ledger, folder: folder.where, log: quiet });
      const log = { ...quiet, info: () => void events.dispatchEvent(new Event('drained')) };
      await writeFile(path.join(folder.where, 'ledger-abc.ndjson'), lines.join(''));
      const drained = once(events, 'drained');
      const spool = new Spool({ folder: folder.where, orphanedMs: 0 });
      const writer = new LedgerWriter({ ledger, spool, log, retryMs: 5 });
      await drained;
      await writer.close();
      expect(await idsIn()).to.have.members(['before', 'after']);
      expect(await readdir(folder.where)).to.deep.equal(await setAside());
    });
  }

  it('are lost where there is no spool, and the log says so', async () => {
    [folder, place] = [await ownFolder(), await ownSqlite()];
    store = await openStore(place.where, { log: quiet });
    const host = fakeHost();
    const rows = new RefusedRows({ ledger: store.ledger, folder: undefined, log: host.log });
    await rows.append([refused.SQLite, row('good', 1)]);
    expect(await idsIn()).to.deep.equal(['good']);
    expect(host.logged.map(({ message }) => message)).to.deep.equal([
      'The store refuses ledger rows for their content; they are lost.',
    ]);
  });
});
