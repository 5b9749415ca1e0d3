import { expect } from 'chai';
import { aViewer, sessionOf, withOidc } from './console-login.js';
import { masterKey, startPair, type Pair } from '../harness.js';
import { operatorRoutes } from './operator-routes.js';
import { PanelClient, type Answer } from './panel-client.js';

describe('the audit log of a gateway', () => {
  let pair: Pair;
  let panel: PanelClient;
  beforeEach(async () => {
    pair = await startPair(withOidc);
    panel = new PanelClient(pair.url);
  });
  afterEach(() => pair.close());
  const entries = async () => (await pair.gateway.services.store.audit.page({}, { limit: 100 })).entries;
  const rows = async () =>
    (await entries())
      .map(({ actor, action, target = '', outcome, code = '' }) =>
        [actor.kind, actor.name, action, target, outcome, code].join(' ').trim(),
      )
      .toReversed();

  it('is told by every route that is no read which action it is', async () => {
    const routes = await operatorRoutes(pair.gateway);
    const changing = routes.filter(({ method }) => method !== 'GET');
    expect(changing).to.have.length.above(12);
    for (const { method, path, audit: action } of changing) {
      expect(action, `${method} ${path}`).to.match(/^[a-z_]+\.[a-z_]+$/);
    }
  });

  it('has an entry for each change by the panel and by /admin, and none for a read', async () => {
    const key: Answer = await panel.ask('POST', '/keys', { name: 'laptop', note: 'mine' });
    await panel.ask('PATCH', `/keys/${key.id}`, { tokens_per_day: 5 });
    await panel.ask('DELETE', `/keys/${key.id}`);
    await panel.ask('DELETE', `/keys/${key.id}?purge=true`);
    await panel.ask('POST', '/slots/a/pause');
    await pair.post('/admin/slots/a/resume', {});
    await pair.post('/admin/reload', {});
    for (const path of ['/keys', '/slots', '/requests', '/reload']) await panel.get(path);
    await pair.get('/admin/slots');
    expect(await rows()).to.deep.equal([
      `master master key.create ${key.id} done`,
      `master master key.update ${key.id} done`,
      `master master key.revoke ${key.id} done`,
      `master master key.revoke ${key.id} done`,
      'master master slot.pause a done',
      'master master slot.resume a done',
      'master master config.reload  done',
    ]);
    const [, , , , , updated, created] = await entries();
    expect(created).to.deep.include({ address: '127.0.0.1' });
    expect(created!.requestId).to.match(/^req_/);
    expect(created!.after).to.deep.include({ name: 'laptop', note: 'mine', last4: key.key.slice(-4) });
    expect(updated!.before).to.deep.equal({ name: 'laptop', tokens_per_day: null });
    expect(updated!.after).to.deep.equal({ name: 'laptop', tokens_per_day: 5 });
    expect(JSON.stringify(await entries())).to.not.include(key.key);
  });

  it('has what was refused, and who has tried', async () => {
    await panel.fetch('POST', '/keys', { name: '' });
    await panel.fetch('PATCH', '/keys/key_none', { name: 'x' });
    await panel.fetch('PATCH', '/slots/a', { weight: 2 });
    await pair.post('/admin/slots/none/pause', {});
    const viewer = await sessionOf(pair, aViewer);
    await new PanelClient(pair.url, { ...viewer }).fetch('POST', '/keys', { name: 'x' });
    await new PanelClient(pair.url, { ...viewer, 'x-csrf-token': 'wrong' }).fetch('POST', '/logout');
    await panel.ask('POST', '/keys', { name: 'ok' });
    expect((await rows()).slice(0, -1)).to.deep.equal([
      'master master key.create  refused invalid_request',
      'master master key.update key_none refused not_found',
      'master master slot.update a refused conflict',
      'master master slot.pause none refused not_found',
      'oidc vera@example.com key.create  refused forbidden',
      'oidc vera@example.com session.logout  refused forbidden',
    ]);
  });

  it('has logins and logouts, and wrong passwords with their address', async () => {
    const open = new PanelClient(pair.url, {});
    await open.fetch('POST', '/login', { password: 'hunter2' });
    const response = await open.fetch('POST', '/login', { password: masterKey });
    const cookie = response.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
    const { csrf_token: token } = (await response.json()) as { csrf_token: string };
    await new PanelClient(pair.url, { cookie, 'x-csrf-token': token }).fetch('POST', '/logout');
    expect(await rows()).to.deep.equal([
      'anonymous anonymous session.login  refused wrong_password',
      'password password session.login  done',
      'password password session.logout  done',
    ]);
    const [, , failed] = await entries();
    expect(failed!.address).to.equal('127.0.0.1');
    expect(JSON.stringify(await entries())).to.not.match(/hunter2|test-master-key/);
  });

  it('says which request was explained, and to whom', async () => {
    const call = { post: '/v1/messages?secret=1', body: { model: 'sonnet-5', messages: [] } };
    await panel.ask('POST', '/explain', call);
    await pair.post('/admin/explain', call);
    const found = (await entries()).map(({ action, after }) => [action, after]);
    const explained = ['request.explain', { key: 'master', path: '/v1/messages' }];
    expect(found).to.deep.equal([explained, explained]);
  });

  it('has no formula in its CSV, whoever chose a name', async () => {
    const names = [' =1+1', '\uff1d1+1', '=1+1', '\n@x'];
    const { audit } = pair.gateway.services.store;
    await audit.append(
      names.map((name, nth) => ({
        id: `aud_${nth}`,
        atMs: nth,
        actor: { kind: 'oidc', name },
        action: 'key.create',
        outcome: 'done',
      })),
    );
    const text = await (await panel.fetch('GET', '/audit/export')).text();
    for (const name of names) expect(text).to.include(`'${name}`);
  });
});
