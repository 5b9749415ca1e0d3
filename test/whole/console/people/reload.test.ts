import { expect } from 'chai';
import { aViewer, sessionOf, withOidc } from '../console-login.js';
import { configOf, startGateway } from '../../harness.js';
import { PanelClient } from '../panel-client.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

describe('a reload of panel.oidc', () => {
  const folders = new TempFolders();
  afterEach(() => folders.remove());

  it('changes the logins and ends sessions at once, and shows no secret', async () => {
    const folder = await folders.make({});
    const { panel } = withOidc;
    const write = (oidc: object) =>
      writeIn(
        folder,
        'gateway.yaml',
        configOf({
          slots: [{ id: 'a', upstream: 'simulator' }],
          panel: { ...panel, oidc: { ...panel.oidc, ...oidc } },
        }),
      );
    await write({});
    const under = await startGateway(`${folder}/gateway.yaml`);
    const viewer = new PanelClient(under.url, await sessionOf(under, aViewer));
    expect((await viewer.fetch('GET', '/status')).status).to.equal(200);

    await write({ label: 'Example', clientSecret: 'another-secret', only: true });
    const { changes } = await new PanelClient(under.url).ask('POST', '/reload');
    expect(changes.settings).to.deep.equal([
      { path: 'panel.oidc.clientSecret', change: 'changed', secret: true },
      { path: 'panel.oidc.label', change: 'changed', before: '127.0.0.1:1', after: 'Example' },
      { path: 'panel.oidc.only', change: 'changed', before: false, after: true },
    ]);
    expect((await viewer.get('/login')).oidc.label).to.equal('Example');
    expect((await viewer.get('/login')).password).to.equal(false);
    const shown = await (await under.get('/admin/config')).text();
    expect(shown).to.include('"clientSecret":"***"').and.not.to.include('another-secret');

    await write({ enabled: false });
    await new PanelClient(under.url).ask('POST', '/reload');
    expect((await viewer.fetch('GET', '/status')).status).to.equal(401);
    await under.close();
  });
});
