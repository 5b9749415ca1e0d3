import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import {
  ask,
  configOf,
  masterKey,
  slotAt,
  stages,
  startGateway,
  type GatewayUnderTest,
} from '../../harness.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { aViewer, anAdmin, sessionOf, withOidc } from '../../console/console-login.js';
import { errorIn, issueKey } from '../../kit.js';
import { PanelClient, readDocument } from '../../console/panel-client.js';
import { TempFolders } from '../../temp-folders.js';

/** A stage without a middleware of its own beside its routes. */
const withRoutes = (routes: string, name = 'reports') => `export default {
  name: '${name}',
  setup: (_, host) => {
    for (const route of ${routes}) host.route(route);
    return async function reports(ctx, next) { await next(); };
  },
};`;

const reports = withRoutes(`[
  {
    method: 'GET', path: '/reports/:day',
    openapi: { summary: 'The report of a day.', query: { type: 'object', properties: { by: { type: 'string' } } } },
    handle(ctx, { params, query, caller }) { ctx.body = { day: params.day, by: query.get('by'), caller: caller.keyId }; },
  },
  { method: 'POST', path: '/reports', auth: 'master', handle(ctx, { caller }) { ctx.body = { caller: caller ?? 'operator' }; } },
  { method: 'GET', path: '/hook', auth: 'none', handle(ctx) { ctx.set('content-security-policy', "default-src 'none'"); ctx.body = 'open'; } },
  { method: 'GET', path: '/broken', auth: 'none', handle() { throw new Error('no luck'); } },
  {
    method: 'GET', path: '/board', auth: 'master', page: 'Board',
    handle(ctx) { ctx.set('content-security-policy', "script-src 'none'"); ctx.type = 'html'; ctx.body = '<h1>Board</h1>'; },
  },
  { method: 'POST', path: '/tenants/:tenant/messages', operation: 'generate', format: 'messages', openapi: { summary: 'Messages of a tenant.' } },
]`);

describe('the routes of a plugin', () => {
  const folders = new TempFolders();
  let simulator: Simulator;
  let folder: string;
  let under: GatewayUnderTest;
  before(async () => void (simulator = await startSimulator()));
  after(() => simulator.close());
  afterEach(async () => {
    await under?.close();
    await folders.remove();
  });

  const start = async (
    files: Readonly<Record<string, string>> = { 'reports.mjs': reports },
    formats?: readonly string[],
    pipeline = stages(),
  ) => {
    folder = await folders.make(files);
    const own = Object.keys(files)
      .filter((file) => !file.startsWith('format'))
      .map((file) => ({ use: `./${file}` }));
    const config = {
      ...configOf({ slots: [slotAt(simulator.url)], ...withOidc }),
      pipeline: [...own, ...pipeline],
      ...(formats && { formats }),
    };
    await writeFile(path.join(folder, 'gateway.yaml'), JSON.stringify(config, undefined, 1));
    under = await startGateway(path.join(folder, 'gateway.yaml'));
  };
  const refusal = (files: Readonly<Record<string, string>>, formats?: readonly string[]) =>
    start(files, formats).then(
      () => 'none',
      (error: Error) => error.message,
    );
  const bare = (where: string, init: RequestInit = {}) => fetch(under.url + where, init);

  it('are behind auth, with the parameters of path and query, unless they say otherwise', async () => {
    await start();
    const key = await issueKey(under, 'ci');
    const answer = await under.get('/reports/monday?by=team', { 'x-api-key': key });
    expect(await answer.json()).to.deep.equal({ day: 'monday', by: 'team', caller: 'ci' });
    expect(await errorIn(await bare('/reports/monday'))).to.include({ status: 401, code: 'missing_api_key' });
    expect(await errorIn(await under.get('/reports'))).to.include({ status: 405 });
  });

  it('are for the operator, or for everybody, where they say so', async () => {
    await start();
    const key = await issueKey(under, 'ci');
    expect(await (await under.post('/reports', {})).json()).to.deep.equal({ caller: 'operator' });
    expect(await errorIn(await under.post('/reports', {}, { 'x-api-key': key }))).to.include({ status: 403 });
    expect(await errorIn(await bare('/reports', { method: 'POST' }))).to.include({ status: 401 });
    expect(await (await bare('/hook')).text()).to.equal('open');
  });

  it('take a session of the console where they are for the operator', async () => {
    await start();
    const panel = new PanelClient(under.url, {});
    const login = await panel.fetch('POST', '/login', { password: masterKey });
    const cookie = login.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    expect((await bare('/board', { headers: { cookie } })).status).to.equal(200);
    expect((await bare('/reports', { method: 'POST', headers: { cookie } })).status).to.equal(403);
    expect((await bare('/reports/monday', { headers: { cookie } })).status).to.equal(401);
  });

  it('are changed by admins alone where they are for the operator, and read by viewers too', async () => {
    await start();
    const post = async (actor: typeof aViewer) =>
      bare('/reports', { method: 'POST', headers: { ...(await sessionOf(under, actor)) } });
    expect(await errorIn(await post(aViewer))).to.include({ status: 403, code: 'forbidden' });
    expect((await post(anAdmin)).status).to.equal(200);
    expect((await bare('/board', { headers: { ...(await sessionOf(under, aViewer)) } })).status).to.equal(
      200,
    );
  });

  it('are in the audit log where operators change something by them, and where they may not', async () => {
    await start();
    await under.post('/reports?secret=1', {});
    const headers = await sessionOf(under, aViewer);
    await bare('/reports', { method: 'POST', headers });
    await bare('/reports', { method: 'POST', headers: { cookie: headers.cookie } });
    await bare('/reports', { method: 'POST' });
    await bare('/board', { headers });
    const { entries } = await under.gateway.services.store.audit.page({}, { limit: 10 });
    const rows = entries.map(({ actor, action, target, outcome, after }) => [
      [actor.name, action, target, outcome].join(' '),
      after,
    ]);
    expect(rows.toReversed()).to.deep.equal([
      ['master stage.call POST /reports done', { stage: 'reports' }],
      ['vera@example.com stage.call POST /reports refused', { stage: 'reports' }],
      ['vera@example.com stage.call POST /reports refused', { stage: 'reports' }],
    ]);
  });

  const origins: readonly (readonly [
    what: string,
    headers: Readonly<Record<string, string>>,
    status: number,
  ])[] = [
    ['another page', { origin: 'http://evil.example' }, 401],
    ['a sandboxed page', { origin: 'null' }, 401],
    ['another port', { origin: 'http://127.0.0.1:1' }, 401],
    ['a link of another page', { 'sec-fetch-site': 'cross-site' }, 401],
    ['a page of its own', { 'sec-fetch-site': 'same-origin' }, 200],
    ['no page', {}, 200],
  ];
  for (const [what, headers, status] of origins)
    it(`answer ${what} with ${status} where callers without a key are let in`, async () => {
      await start(undefined, undefined, stages({ with: { auth: { anonymous: true } } }));
      expect((await bare('/reports/monday', { headers })).status).to.equal(status);
    });

  it('answer a page of their own origin, and one of another that sends a key', async () => {
    await start(undefined, undefined, stages({ with: { auth: { anonymous: true } } }));
    const statusOf = async (headers: Readonly<Record<string, string>>) =>
      (await bare('/reports/monday', { headers })).status;
    expect(await statusOf({ origin: under.url })).to.equal(200);
    expect(await statusOf({ origin: 'http://evil.example', 'x-api-key': masterKey })).to.equal(200);
  });

  it('are blamed on their stage where they throw', async () => {
    await start();
    expect(await errorIn(await bare('/broken'))).to.include({ status: 500, code: 'internal' });
    const line = under.logged.find(({ level }) => level === 'error');
    expect(line).to.include({ stage: 'reports' });
  });

  it('may be further paths of a format, through all stages', async () => {
    await start();
    const answer = await under.post('/tenants/red/messages', ask('Hi'));
    expect(answer.status).to.equal(200);
    expect(await answer.json()).to.include({ type: 'message' });
    const wrong = await under.post('/tenants/red/messages', { model: 'sonnet-5' });
    expect(await errorIn(wrong)).to.include({ status: 400, code: 'invalid_request' });
  });

  it('cannot run scripts with the origin of the console', async () => {
    await start();
    const policyOf = async (where: string) => (await under.get(where)).headers.get('content-security-policy');
    expect(await policyOf('/reports/monday')).to.equal('sandbox allow-scripts allow-forms');
    expect(await policyOf('/hook')).to.equal("default-src 'none'");
    expect(await policyOf('/board')).to.equal("sandbox allow-scripts allow-forms, script-src 'none'");
    expect((await under.get('/board')).headers.get('x-frame-options')).to.equal('SAMEORIGIN');
  });

  it('are in the OpenAPI document, and their pages in the panel', async () => {
    await start();
    const { paths } = (await readDocument(under.url)) as {
      paths: Record<string, Record<string, { summary: string; security: unknown[]; requestBody?: unknown }>>;
    };
    expect(paths['/reports/{day}']?.['get']).to.deep.include({ summary: 'The report of a day.' });
    expect(paths['/reports/{day}']?.['get']?.security).to.have.length(2);
    expect(paths['/tenants/{tenant}/messages']?.['post']?.requestBody).to.deep.equal(
      paths['/v1/messages']?.['post']?.requestBody,
    );
    expect(paths).to.not.have.any.keys('/hook', '/board');
    const { data } = await new PanelClient(under.url).get('/pages');
    expect(data).to.deep.equal([{ title: 'Board', url: '/board', stage: 'reports' }]);
  });

  it('come and go with a reload', async () => {
    await start();
    const file = path.join(folder, 'reports.mjs');
    await writeFile(file, (await readFile(file, 'utf8')).replace("'/hook'", "'/new'"));
    expect((await under.post('/admin/reload', {})).status).to.equal(200);
    expect((await bare('/hook')).status).to.equal(404);
    expect((await bare('/new')).status).to.equal(200);
  });

  it('have one owner', async () => {
    const get = (where: string) => `[{ method: 'GET', path: '${where}', handle() {} }]`;
    const one = withRoutes(get('/x/:id'), 'one');
    const two = withRoutes(get('/x/y'), 'two');
    expect(await refusal({ 'one.mjs': one, 'two.mjs': two })).to.match(
      /pipeline\[1\] "two" has GET \/x\/y, which pipeline\[0\] ".\/one.mjs" at line \d+ also has; list only one of them$/,
    );
    expect(await refusal({ 'one.mjs': withRoutes(get('/admin/x')) })).to.match(
      /pipeline\[0\] "reports" has GET \/admin\/x, a path of the gateway itself; use another one$/,
    );
    expect(await refusal({ 'one.mjs': withRoutes(get('{/v1}/responses/:id')) })).to.match(
      /has GET \{\/v1\}\/responses\/:id, which formats\[\d\] "responses" at line \d+ also has;/,
    );
    const twice = withRoutes(`[...${get('/x')}, ...${get('/x')}]`);
    expect(await refusal({ 'one.mjs': twice })).to.match(/"reports" has GET \/x twice$/);
  });

  for (const [route, says] of [
    [
      "{ method: 'get', path: '/x', handle() {} }",
      'the route get /x cannot be read: it needs a method (GET,',
    ],
    ["{ method: 'GET', path: 'x', handle() {} }", 'the route GET x cannot be read'],
    ["{ method: 'GET', path: '/x' }", 'the route GET /x has no handle'],
    [
      "{ method: 'GET', path: '/x', auth: 'nobody', handle() {} }",
      'has the unknown auth "nobody"; known: caller, master, none',
    ],
    [
      "{ method: 'GET', path: '/x/:id', page: 'X', handle() {} }",
      'has a page, which needs a GET route without parameters',
    ],
    [
      "{ method: 'GET', path: '/x', page: '', handle() {} }",
      'has a page whose title is not 1 to 40 characters',
    ],
    ["{ method: 'POST', path: '/x', operation: 'generate' }", 'is for "generate" but names no format'],
    [
      "{ method: 'POST', path: '/x', operation: 'usage', handle() {} }",
      'has the unknown operation "usage"; known: route,',
    ],
    ["{ method: 'POST', path: '/x', operation: 'generate', format: 'chatt' }", 'unknown format "chatt"'],
  ] as const)
    it(`are refused: ${says}`, async () => {
      const message = await refusal({ 'one.mjs': withRoutes(`[${route}]`) });
      expect(message).to.include('pipeline[0] "reports" cannot be set up: ').and.include(says);
    });

  it('are added in setup alone', async () => {
    const late = `export default {
      name: 'late',
      setup: (_, host) => async function late(ctx, next) {
        try { host.route({ method: 'GET', path: '/x', handle() {} }); } catch (error) { ctx.set('x-why', error.message); }
        await next();
      },
    };`;
    await start({ 'late.mjs': late });
    const answer = await under.post('/v1/messages', ask('Hi'));
    expect(answer.headers.get('x-why')).to.equal('A route must be added in setup, not later: GET /x.');
  });
});
