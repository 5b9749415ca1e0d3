import path from 'node:path';
import { openDatabase } from '#src/state/store/sql/sqlite/driver.js';
import { expect } from 'chai';
import { livedMs } from '../../lived-ms.js';
import { execWhenFree } from '../../state/store/exec-when-free.js';
import { ownFolder } from '../../state/store/stores.js';
import { startGateway, type GatewayUnderTest } from '../harness.js';
import { errorIn } from '../kit.js';
import { PanelClient } from './panel-client.js';

describe('a panel whose store is in trouble', () => {
  let file: string;
  let under: GatewayUnderTest;
  let panel: PanelClient;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    const folder = await ownFolder();
    remove = folder.remove;
    file = path.join(folder.where, 'gateway.db');
    const slots = [{ id: 'a', upstream: 'simulator' }];
    under = await startGateway({ slots, store: `sqlite:${file}` });
    panel = new PanelClient(under.url);
  });
  afterEach(async () => {
    await under.close();
    await remove();
  });

  it('says within two seconds that another program has locked the file, and goes on when that is over', async () => {
    const other = openDatabase(file);
    await execWhenFree(other, 'begin immediate');
    let response: Response | undefined;
    const issue = async () => void (response = await panel.fetch('POST', '/keys', { name: 'k' }));
    expect(await livedMs(issue)).to.be.lessThan(2000);
    expect(response?.headers.get('retry-after')).to.equal('1');
    expect(await errorIn(response!)).to.deep.include({ status: 503, code: 'store_unavailable' });
    expect((await panel.get('/keys')).data).to.deep.equal([]);
    other.exec('rollback');
    other.close();
    expect((await panel.ask('POST', '/keys', { name: 'k' })).name).to.equal('k');
  });

  it('answers every route that needs it with 503 and a time to come again', async () => {
    const other = openDatabase(file);
    for (const table of ['ledger', 'ledger_sums', 'keys', 'slots', 'sessions', 'responses'])
      await execWhenFree(other, `drop table ${table}`);
    other.close();
    const asked = [
      await panel.fetch('GET', '/keys'),
      await panel.fetch('POST', '/keys', { name: 'k' }),
      await panel.fetch('GET', '/requests'),
      await panel.fetch('GET', '/requests/1.x'),
      await panel.fetch('GET', '/usage'),
      await panel.fetch('POST', '/login', { password: 'test-master-key' }),
      await new PanelClient(under.url, { cookie: 'gw_session=x' }).fetch('GET', '/keys'),
      await under.get('/v1/responses/resp_1'),
      await under.get('/v1/models', { 'x-api-key': 'sk-gw-somebody' }),
    ];
    for (const response of asked) {
      expect(response.headers.get('retry-after'), response.url).to.equal('1');
      expect(await errorIn(response), response.url).to.deep.include({
        status: 503,
        code: 'store_unavailable',
      });
    }
  });
});
