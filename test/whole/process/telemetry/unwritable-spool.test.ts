import { writeFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { ownFolder, ownPostgres, ownSqlite, postgresUrl } from '../../../state/store/stores.js';
import { slotAt, startGateway } from '../../harness.js';

describe('the spool of the ledger, at the start', () => {
  const stores = {
    SQLite: async () => {
      const { where, remove } = await ownSqlite();
      return { where: `sqlite:${where.file}`, remove };
    },
    PostgreSQL: async () => {
      const { where, remove } = await ownPostgres(postgresUrl!);
      return { where: where.url, remove };
    },
  };

  /** Messages of a start with this spool. */
  async function warnings(
    store: string,
    spool: string,
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const under = await startGateway({ slots: [slotAt('http://127.0.0.1:9')], store, ledger: { spool } });
    await under.close();
    return under.logged.filter(({ level }) => level === 'warn');
  }

  for (const [name, makeStore] of Object.entries(stores))
    (name === 'PostgreSQL' && postgresUrl === undefined ? it.skip : it)(
      `is warned of where it cannot be written, with ${name}`,
      async () => {
        const [store, folder] = [await makeStore(), await ownFolder()];
        const file = path.join(folder.where, 'file');
        await writeFile(file, '');
        const [warning, ...others] = await warnings(store.where, path.join(file, 'spool'));
        expect(others).to.deep.equal([]);
        expect(warning).to.include({ folder: path.join(file, 'spool') });
        expect(warning!['msg']).to.match(
          /^The ledger spool cannot be written, .* is a file, or set ledger\.spool\.$/,
        );
        const spool = path.join(folder.where, 'spool');
        expect(await warnings(store.where, spool)).to.deep.equal([]);
        expect(await readdir(folder.where)).to.deep.equal(['file']);
        for (const { remove } of [store, folder]) await remove();
      },
    );
});
