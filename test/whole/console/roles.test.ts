import { expect } from 'chai';
import { aViewer, anAdmin, sessionOf, withOidc } from './console-login.js';
import { ask, masterKey, startPair, type Pair } from '../harness.js';
import { errorIn } from '../kit.js';
import { PanelClient, readDocument } from './panel-client.js';

/** Routes that change nothing of the gateway though they are no GET; their own sessions are theirs. */
const forViewers = ['POST /explain', 'POST /logout', 'DELETE /sessions', 'DELETE /sessions/{id}'];
/** Routes that only admins read. */
const forAdmins = new Set<string>(['GET /admin-tokens']);
/** Routes before a login. */
const open = ['POST /login'];

describe('a viewer of the console', () => {
  let under: Pair;
  let headers: Awaited<ReturnType<typeof sessionOf>>;
  beforeEach(async () => {
    under = await startPair(withOidc);
    headers = await sessionOf(under, aViewer);
  });
  afterEach(() => under.close());

  const allRoutes = async (): Promise<readonly string[]> => {
    const { paths } = (await readDocument(under.url)) as { paths: Record<string, object> };
    return Object.entries(paths)
      .filter(([path]) => path.startsWith('/api/panel/'))
      .flatMap(([path, methods]) =>
        Object.keys(methods)
          .filter((method) => method !== 'parameters')
          .map((method) => `${method.toUpperCase()} ${path.slice('/api/panel'.length)}`),
      );
  };
  const call = async (route: string): Promise<Response> => {
    const [method, path] = route.split(' ') as [string, string];
    const ended = new AbortController();
    const response = await fetch(`${under.url}/api/panel${path.replace(/\{\w+\}/, 'a')}`, {
      method,
      headers: { ...headers, ...(method !== 'GET' && { 'content-type': 'application/json' }) },
      ...(method !== 'GET' && { body: '{}' }),
      signal: ended.signal,
    });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    ended.abort();
    return new Response(null, { status: response.status });
  };

  it('sees every page of the panel', async () => {
    const reads = (await allRoutes()).filter((route) => route.startsWith('GET '));
    expect(reads).to.include.members(['GET /keys', 'GET /slots', 'GET /requests/live', 'GET /pipeline']);
    for (const route of reads) {
      const { status } = await call(route);
      if (forAdmins.has(route)) expect(status, route).to.equal(403);
      else if (route.startsWith('GET /oidc/')) expect(status, route).to.be.oneOf([400, 502]);
      else expect(status, route).to.be.oneOf([200, 400, 404]); // of ids and parameters that it does not give
    }
  });

  it('changes nothing by any route', async () => {
    const changes = (await allRoutes()).filter((route) => !route.startsWith('GET '));
    expect(changes).to.include.members([
      'POST /keys',
      'POST /slots/{id}/pause',
      'POST /reload',
      ...forViewers,
    ]);
    for (const route of changes.filter((each) => ![...forViewers, ...open].includes(each))) {
      const refused = await errorIn(await call(route));
      expect(refused, route).to.include({ status: 403, code: 'forbidden' });
      expect(refused.message, route).to.include('viewer');
    }
    expect(under.logged.filter(({ msg }) => String(msg).includes('changed the gateway'))).to.deep.equal([]);
  });

  it('may do what an admin may, once signed in as one', async () => {
    headers = await sessionOf(under, anAdmin);
    expect((await call('POST /slots/{id}/pause')).status).to.equal(200);
    const line = under.logged.find(({ what }) => what === 'slot.pause');
    expect(line).to.include({ by: 'oidc', name: 'ada@example.com', target: 'a' });
  });

  it('is told who it is, and can sign out', async () => {
    const mine = await (await call('GET /session')).json();
    expect(mine).to.deep.include({ kind: 'session', actor: aViewer });
    expect((await call('POST /logout')).status).to.equal(204);
    expect((await call('GET /session')).status).to.equal(401);
  });

  it('has a request explained without its texts, and an admin with them', async () => {
    const body = { body: ask('private words') };
    const seen = await new PanelClient(under.url, headers).ask('POST', '/explain', body);
    expect(JSON.stringify(seen)).not.to.include('private');
    expect(seen.stages.map(({ stage }: { stage: string }) => stage)).to.include('slot-pick');
    expect(seen.choices[0].slots[0]).to.include({ slot: 'a' });
    const admin = await new PanelClient(under.url, await sessionOf(under, anAdmin)).ask(
      'POST',
      '/explain',
      body,
    );
    expect(JSON.stringify(admin)).to.include('private words');
    const master = await new PanelClient(under.url).ask('POST', '/explain', body);
    expect(JSON.stringify(master)).to.include('private words');
  });

  it('stays out of /admin, as every session does', async () => {
    const answer = await fetch(`${under.url}/admin/slots`, { headers });
    expect(await errorIn(answer)).to.include({ status: 401, code: 'missing_api_key' });
    expect((await under.get('/admin/slots', { 'x-api-key': masterKey })).status).to.equal(200);
  });
});
