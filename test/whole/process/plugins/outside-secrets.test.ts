import { expect } from 'chai';
import { configOf, startGateway, type GatewayUnderTest } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';
import { TempFolders } from '../../temp-folders.js';

const secret = `{ type: 'string', secret: true }`;
const account = `export default { name: 'pinned', open: () => ({ authorize: () => ({}) }), options: {
  type: 'object', properties: { pin: ${secret}, proof: { type: 'object', properties: {
    seal: ${secret}, hint: { type: 'string' } } } } } };`;
const upstream = `export default { name: 'sealed', open: () => ({ generate: () => undefined }), options: {
  type: 'object', properties: { seal: ${secret}, region: { type: 'string' } } } };`;
const stage = `export default { name: 'signer', setup: () => (ctx, next) => next(), options: {
  type: 'object', properties: { seal: ${secret} } } };`;

describe('options that a plugin from outside marks as secret', () => {
  const folders = new TempFolders();
  let under: GatewayUnderTest;
  const slot = (id: string) => ({
    id,
    upstream: './sealed.mjs',
    baseUrl: 'http://127.0.0.1:9',
    with: { seal: 'HIDDEN-1', region: 'north' },
    account: { kind: './pinned.mjs', pin: 'HIDDEN-2', proof: { seal: 'HIDDEN-3', hint: 'blue' } },
  });
  beforeEach(async () => {
    const files = { 'pinned.mjs': account, 'sealed.mjs': upstream, 'signer.mjs': stage };
    const config = configOf({ slots: [slot('a')] }) as { readonly pipeline: readonly object[] };
    const pipeline = [...config.pipeline, { use: './signer.mjs', with: { seal: 'HIDDEN-4' } }];
    const text = JSON.stringify({ ...config, pipeline });
    const folder = await folders.make({ ...files, 'gateway.yaml': text });
    under = await startGateway(`${folder}/gateway.yaml`);
  });
  afterEach(async () => {
    await under.close();
    await folders.remove();
  });

  it('are shown nowhere', async () => {
    const panel = new PanelClient(under.url);
    await panel.ask('POST', '/slots', slot('b'));
    const headers = { 'x-api-key': 'test-master-key' };
    const read = async (path: string) => (await fetch(`${under.url}${path}`, { headers })).text();
    const texts = [
      await read('/admin/config'),
      await read('/admin/pipeline'),
      JSON.stringify(await panel.get('/slots')),
      JSON.stringify(await panel.get('/pipeline')),
    ];
    for (const text of texts) expect(text).to.include('***').and.not.include('HIDDEN');
    expect(texts[0]).to.include('north').and.include('blue');
  });

  it('are kept where an edit sends back what was shown, and go nowhere else', async () => {
    const panel = new PanelClient(under.url);
    const { settings } = await panel.ask('POST', '/slots', slot('b'));
    await panel.ask('PATCH', '/slots/b', { ...settings, weight: 2 });
    const stored = await under.gateway.services.store.slots.get('b');
    expect(JSON.stringify(stored)).to.match(/HIDDEN-1.*HIDDEN-2.*HIDDEN-3/);
    const diverted = {
      baseUrl: 'http://127.0.0.1:10',
      account: { pin: 'HIDDEN-2', proof: { hint: 'red' } },
    };
    const error = await errorIn(await panel.fetch('PATCH', '/slots/b', diverted));
    expect(error.message)
      .to.match(/send `account` again with its proof\.seal/)
      .and.include('`with`');
  });
});
