import { expect } from 'chai';
import { ask, startPair, type Pair } from '../harness.js';
import { errorIn } from '../kit.js';
import { operatorRoutes } from './operator-routes.js';
import { PanelClient, type Answer } from './panel-client.js';

describe('admin tokens', () => {
  let pair: Pair;
  let panel: PanelClient;
  beforeEach(async () => {
    pair = await startPair();
    panel = new PanelClient(pair.url);
  });
  afterEach(() => pair.close());

  const issue = async (fields: object = {}): Promise<Answer> =>
    panel.ask('POST', '/admin-tokens', { name: 'ci', scopes: ['*'], ...fields });
  const withToken = ({ token }: Answer) => ({ authorization: `Bearer ${token}` });

  it('are shown once, and kept as a hash', async () => {
    const { token, ...report } = await issue({ scopes: ['metrics', 'metrics'], expires_at: '2100-01-01' });
    expect(token).to.match(/^gw-adm-[\w-]{43}$/);
    expect(report).to.deep.include({ name: 'ci', scopes: ['metrics'], last4: token.slice(-4) });
    expect(report).to.deep.include({ created_by: 'master', expires_at: '2100-01-01T00:00:00.000Z' });
    const listed = await panel.get('/admin-tokens');
    expect(listed.data).to.deep.equal([report]);
    expect(listed.scopes.map(({ name }: Answer) => name)).to.include.members(['*', 'slots:read']);
    const [stored] = await pair.gateway.services.store.adminTokens.list();
    expect(JSON.stringify(stored)).to.not.include(token);
    const { entries } = await pair.gateway.services.store.audit.page({}, { limit: 10 });
    expect(entries[0]).to.deep.include({ action: 'token.create', target: report.id });
    expect(JSON.stringify(entries)).to.not.include(token);
  });

  it('call /admin and /metrics alone: 401 on /v1, 403 on the panel', async () => {
    const made = await issue();
    const headers = withToken(made);
    expect((await pair.get('/admin/slots', headers)).status).to.equal(200);
    expect((await pair.get('/metrics', headers)).status).to.equal(200);
    expect((await pair.get('/metrics', { 'x-api-key': made.token })).status).to.equal(200);
    const v1 = await pair.post('/v1/messages', ask('Hi'), headers);
    expect(await errorIn(v1)).to.include({ status: 401, code: 'invalid_api_key' });
    expect((await pair.get('/v1/models', headers)).status).to.equal(401);
    const client = new PanelClient(pair.url, headers);
    expect(await errorIn(await client.fetch('GET', '/keys'))).to.include({ status: 403, code: 'forbidden' });
    expect((await client.fetch('POST', '/keys', { name: 'x' })).status).to.equal(403);
    expect((await pair.get('/admin/nothing', headers)).status).to.equal(404);
  });

  it('are refused where their scope is missing, by each route that there is', async () => {
    const headers = withToken(await issue({ name: 'none', scopes: ['metrics'] }));
    const scoped = (await operatorRoutes(pair.gateway)).filter(({ scope }) => scope !== undefined);
    expect(scoped).to.have.length.above(10);
    for (const { method, path, scope } of scoped) {
      const url = path.replace(':id', 'a');
      const response = method === 'GET' ? await pair.get(url, headers) : await pair.post(url, {}, headers);
      const error = await errorIn(response);
      expect(error, `${method} ${path}`).to.include({ status: 403, code: 'forbidden' });
      expect(error.message).to.include(`"none" lacks the scope "${scope}"; it has metrics.`);
    }
    const reader = withToken(await issue({ name: 'reader', scopes: ['slots:read'] }));
    expect((await pair.get('/admin/slots', reader)).status).to.equal(200);
    expect((await pair.get('/metrics', reader)).status).to.equal(403);
    expect((await pair.post('/admin/slots/a/pause', {}, reader)).status).to.equal(403);
  });

  it('are the actor of what they do, also of what they may not', async () => {
    const headers = withToken(await issue({ scopes: ['slots:write'] }));
    await pair.post('/admin/slots/a/pause', {}, headers);
    await pair.post('/admin/reload', {}, headers);
    const { entries } = await pair.gateway.services.store.audit.page({ actor: 'ci' }, { limit: 10 });
    expect(entries.map(({ actor, action, outcome }) => [actor.kind, action, outcome])).to.deep.equal([
      ['token', 'config.reload', 'refused'],
      ['token', 'slot.pause', 'done'],
    ]);
    const line = pair.logged.find(({ what }) => what === 'slot.pause');
    expect(line).to.include({ by: 'token', name: 'ci', target: 'a' });
  });

  it('end at once where they are revoked or removed, and in time where they expire', async () => {
    const first = await issue();
    const use = async (made: Answer) => (await pair.get('/admin/slots', withToken(made))).status;
    expect(await use(first)).to.equal(200);
    const revoked = await panel.ask('DELETE', `/admin-tokens/${first.id}`);
    expect(revoked.revoked_at).to.be.a('string');
    expect(await use(first)).to.equal(401);
    await panel.ask('DELETE', `/admin-tokens/${first.id}?purge=true`);
    const second = await issue();
    expect(await use(second)).to.equal(200);
    await panel.ask('DELETE', `/admin-tokens/${second.id}?purge=true`);
    expect(await use(second)).to.equal(401);
    expect((await panel.get('/admin-tokens')).data).to.deep.equal([]);
    expect((await panel.fetch('DELETE', '/admin-tokens/adm_none')).status).to.equal(404);
  });

  it('have names of their own, known scopes and a future', async () => {
    await issue();
    const refused = async (fields: object) => {
      const body = { name: 'b', scopes: ['*'], ...fields };
      return errorIn(await panel.fetch('POST', '/admin-tokens', body));
    };
    expect(await refused({ name: 'ci' })).to.include({ status: 409, code: 'conflict' });
    expect((await refused({ scopes: ['slots:eat'] })).message).to.match(/^scopes\[0\]: /);
    expect((await refused({ scopes: [] })).message).to.match(/^scopes: /);
    const past = await refused({ expires_at: '2020-01-01' });
    expect(past.message).to.equal('expires_at: must be in the future');
  });

  it('tell when they were used last', async () => {
    const made = await issue();
    await pair.get('/admin/slots', withToken(made));
    await pair.gateway.services.adminTokens.flush();
    expect((await panel.get('/admin-tokens')).data[0].last_used_at).to.be.a('string');
  });

  it('cannot be guessed fast: wrong ones are counted as wrong keys are', async () => {
    let isSlow = false;
    for (let nth = 0; nth <= 20; nth += 1) {
      const response = await pair.get('/admin/slots', { 'x-api-key': `gw-adm-${nth}` });
      expect(await errorIn(response)).to.include({ status: 401, code: 'invalid_api_key' });
      isSlow = pair.gateway.wrongKeys.fill.entries > 0;
    }
    expect(isSlow).to.equal(false);
    const slow = pair.get('/admin/slots', { 'x-api-key': 'gw-adm-x' });
    while (pair.gateway.wrongKeys.fill.entries === 0) await new Promise((resolve) => setImmediate(resolve));
    await slow;
  });
});
