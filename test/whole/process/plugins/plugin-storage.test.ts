import path from 'node:path';
import { openDatabase } from '#src/state/store/sql/sqlite/driver.js';
import { expect } from 'chai';
import { execWhenFree } from '../../../state/store/exec-when-free.js';
import { ask, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { TempFolders } from '../../temp-folders.js';

/** Counts the requests of its pipeline in its storage, and answers with the count. */
const counting = `export default {
  name: 'counting',
  requires: ['caller'],
  operations: ['generate', 'models'],
  setup: (_, { storage, store }) => async function counting(ctx) {
    const count = ((await storage.get('count')) ?? 0) + 1;
    await storage.set('count', count, { ttlMs: 60_000 });
    ctx.body = { count, isOpen: 'spaces' in store };
  },
};`;

describe("a plugin's storage in a gateway with a SQLite file", () => {
  const folders = new TempFolders();
  let folder: string;
  let under: GatewayUnderTest;
  let nowMs = Date.UTC(2026, 0, 1);
  const file = () => path.join(folder, 'gateway.db');
  const start = async (plugin: string, entry: object = {}) => {
    const [auth, ...rest] = stages();
    const pipeline = [auth, { use: path.join(folder, plugin), ...entry }, ...rest];
    const config = { pipeline, store: `sqlite:${file()}`, slots: [slotAt('http://127.0.0.1:9')] };
    under = await startGateway(config, {}, () => nowMs);
  };
  beforeEach(async () => {
    folder = await folders.make({ 'one.mjs': counting, 'two.mjs': counting });
    await start('one.mjs');
  });
  afterEach(async () => {
    await under.close();
    await folders.remove();
  });

  const count = async () => (await (await under.post('/v1/messages', ask('Hi'))).json()) as object;

  it('survives a restart, and ends with its lifetime', async () => {
    expect(await count()).to.deep.equal({ count: 1, isOpen: false });
    await under.close();
    await start('one.mjs');
    expect(await count()).to.include({ count: 2 });
    nowMs += 60_000;
    expect(await count()).to.include({ count: 1 });
  });

  it('is not that of another plugin of the same name', async () => {
    await count();
    await under.close();
    await start('two.mjs');
    expect(await count()).to.include({ count: 1 });
  });

  it('is not that of another entry with a name', async () => {
    await count();
    await under.close();
    await start('one.mjs', { name: 'another' });
    expect(await count()).to.include({ count: 1 });
  });

  it('is 503 while the store is in trouble', async () => {
    const other = openDatabase(file());
    await execWhenFree(other, 'drop table plugin_values');
    other.close();
    const response = await under.post('/v1/messages', ask('Hi'));
    expect(response.headers.get('retry-after')).to.equal('1');
    expect(await errorIn(response)).to.include({ status: 503, code: 'store_unavailable' });
  });
});
