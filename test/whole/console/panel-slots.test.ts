import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ask, slotAt, startGateway, type GatewayUnderTest } from '../harness.js';
import { callsTo, errorIn } from '../kit.js';
import { PanelClient, type Answer } from './panel-client.js';
import { TempFolders } from '../temp-folders.js';
import { copyMigrated } from '../../state/store/stores.js';

describe('/api/panel/slots', () => {
  const folders = new TempFolders();
  let simulator: Simulator;
  let under: GatewayUnderTest;
  let panel: PanelClient;
  let config: Readonly<Record<string, unknown>>;
  const secretKey = randomBytes(32).toString('base64');
  const start = async (key: string | undefined = secretKey) => {
    under = await startGateway(config, {}, Date.now, key === undefined ? {} : { secretKey: key });
    panel = new PanelClient(under.url);
  };
  beforeEach(async () => {
    simulator = await startSimulator({});
    const folder = await folders.make();
    await copyMigrated(`${folder}/gateway.db`);
    config = { slots: [slotAt(simulator.url)], store: `sqlite:${folder}/gateway.db` };
    await start();
  });
  afterEach(async () => {
    await under.close();
    await simulator.close();
    await folders.remove();
  });

  const entry = (fields: object = {}) => ({
    id: 'b',
    upstream: 'messages',
    baseUrl: simulator.url,
    account: { kind: 'api-key', key: 'upstream-key-b' },
    ...fields,
  });
  const create = (fields: object = {}): Promise<Answer> => panel.ask('POST', '/slots', entry(fields));
  const list = async (): Promise<readonly Answer[]> => (await panel.get('/slots')).data;
  const restart = async (key?: string) => {
    await under.close();
    await start(key);
  };
  /** Sends a request that only slot b can answer. */
  const useB = async () => {
    under.gateway.services.slots.pause('a');
    const response = await under.post('/v1/messages', ask('Hello!'));
    under.gateway.services.slots.resume('a');
    await response.text();
    return response.headers.get('x-gw-slot') ?? response.status;
  };

  it('shows the slots of the config file as they are written, and where', async () => {
    const [a] = await list();
    expect(a).to.deep.include({ id: 'a', state: 'ready', source: 'config', updated_at: null, problem: null });
    expect(a.place).to.match(/^config:\d+:\d+$/);
    expect(a.settings).to.deep.equal({
      upstream: 'messages',
      baseUrl: simulator.url,
      account: { kind: 'api-key', key: '***' },
    });
  });

  it('enters a slot that serves at once, after a reload and after a restart', async () => {
    const response = await panel.fetch('POST', '/slots', entry({ models: ['*'], weight: 2 }));
    expect(response.status).to.equal(201);
    const made = (await response.json()) as Answer;
    expect(made).to.deep.include({ id: 'b', state: 'ready', source: 'console', place: null, weight: 2 });
    expect(made.settings.account).to.deep.equal({ kind: 'api-key', key: '***' });
    expect(await useB()).to.equal('b');
    expect(callsTo(simulator).at(-1)!.headers).to.include({ 'x-api-key': 'upstream-key-b' });
    await under.gateway.reload();
    expect(await useB()).to.equal('b');
    await restart();
    expect(await useB()).to.equal('b');
    const [, b] = await list();
    const measured = { windows: null, forecast: null };
    expect({ ...b, ...measured }).to.deep.equal({ ...made, ...measured });
  });

  it('enters an id once, however many ask for it at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => panel.fetch('POST', '/slots', entry())),
    );
    expect(answers.map(({ status }) => status).toSorted((x, y) => x - y)).to.deep.equal([
      201, 409, 409, 409, 409,
    ]);
  });

  it('keeps the history of a slot over a restart', async () => {
    await panel.ask('POST', '/slots/a/pause');
    await panel.ask('POST', '/slots/a/resume');
    const states = async () => (await panel.get('/slots/a/history')).data.map(({ state }: Answer) => state);
    expect((await states()).slice(0, 1)).to.deep.equal(['ready']);
    await panel.ask('POST', '/slots/a/pause');
    expect((await states()).slice(0, 2)).to.deep.equal(['paused', 'ready']);
    await restart();
    expect((await states()).slice(0, 2)).to.deep.equal(['paused', 'ready']);
    expect((await panel.get('/slots/a/history?limit=1')).data).to.have.length(1);
    expect(await errorIn(await panel.fetch('GET', '/slots/nobody/history'))).to.include({ status: 404 });
    expect(await errorIn(await panel.fetch('GET', '/slots/a/history?limit=0'))).to.include({ status: 400 });
  });

  it('changes a slot by a merge patch, and keeps what is left out or comes back blanked', async () => {
    await create({ headers: { 'x-one': '1', 'x-two': '2' }, proxy: 'http://user:pass@127.0.0.1:9' });
    const [, shown] = await list();
    const changed = await panel.ask('PATCH', '/slots/b', {
      ...shown.settings,
      maxConcurrent: 5,
      headers: { 'x-two': null, 'x-three': '3' },
    });
    expect(changed).to.deep.include({ max_concurrent: 5 });
    const stored = await under.gateway.services.store.slots.get('b');
    expect(stored!.account).to.deep.equal({ kind: 'api-key', key: 'upstream-key-b' });
    expect(stored!.settings).to.deep.include({
      headers: { 'x-one': '1', 'x-three': '3' },
      proxy: 'http://user:pass@127.0.0.1:9',
      maxConcurrent: 5,
    });
    const direct = await panel.ask('PATCH', '/slots/b', { proxy: null, account: { key: 'new-key' } });
    expect(direct.settings).to.not.have.property('proxy');
    expect(await useB()).to.equal('b');
    expect(callsTo(simulator).at(-1)!.headers).to.include({ 'x-api-key': 'new-key', 'x-three': '3' });
    const none = await panel.ask('PATCH', '/slots/b', { account: { kind: 'none' } });
    expect(none).to.deep.include({ account: 'none' });
  });

  describe('sends the stored secrets nowhere else', () => {
    const oauth = {
      kind: 'oauth',
      accessToken: 'at',
      refreshToken: 'rt',
      tokenUrl: 'http://127.0.0.1:9/token',
      clientId: 'client',
      clientSecret: 'cs',
    };
    const headers = { 'x-token': 'SECRET', 'x-plain': 'SECRET too' };

    for (const [name, made, patch, message] of [
      ['baseUrl', {}, { baseUrl: 'http://127.0.0.1:9' }, 'baseUrl: .* send `account` again with its key'],
      ['proxy', {}, { proxy: 'http://127.0.0.1:9' }, 'proxy: .* send `account` again with its key'],
      ['upstream', {}, { upstream: 'simulator' }, 'upstream: .* send `account` again'],
      [
        'a blanked key',
        {},
        { baseUrl: 'http://127.0.0.1:9', account: { kind: 'api-key', key: '***' } },
        'send `account` again with its key',
      ],
      [
        'tokenUrl',
        { account: oauth },
        { account: { tokenUrl: 'http://127.0.0.1:10/token' } },
        'account.tokenUrl: .* send `account` again with its accessToken, refreshToken, clientSecret',
      ],
      [
        'one of three',
        { account: oauth },
        { baseUrl: 'http://127.0.0.1:9', account: { accessToken: 'at', refreshToken: 'rt' } },
        'send `account` again with its clientSecret',
      ],
      [
        'headers',
        { headers, account: { kind: 'none' } },
        { baseUrl: 'http://127.0.0.1:9' },
        'send `headers` again with its x-token, x-plain',
      ],
    ] as const)
      it(name, async () => {
        await create(made);
        const before = await under.gateway.services.store.slots.get('b');
        const error = await errorIn(await panel.fetch('PATCH', '/slots/b', patch));
        expect(error).to.include({ status: 400, code: 'invalid_request' });
        expect(error.message, error.message).to.match(new RegExp(message));
        expect(await under.gateway.services.store.slots.get('b')).to.deep.equal(before);
      });

    it('but to where they are sent along', async () => {
      await create({ headers, account: oauth });
      const other = { baseUrl: 'http://127.0.0.1:9', proxy: 'http://127.0.0.1:9' };
      const again = { account: { ...oauth, tokenUrl: 'http://127.0.0.1:10/token' }, headers };
      expect((await panel.ask('PATCH', '/slots/b', { ...other, ...again })).settings).to.include(other);
      const none = {
        baseUrl: simulator.url,
        account: { kind: 'none' },
        headers: { 'x-token': null, 'x-plain': null },
      };
      expect((await panel.ask('PATCH', '/slots/b', none)).account).to.equal('none');
      const changed = { baseUrl: simulator.url, proxy: null, account: { kind: 'api-key', key: 'new' } };
      expect((await panel.ask('PATCH', '/slots/b', changed)).account).to.equal('api-key');
    });

    it('and what says the same is no change', async () => {
      await create({ baseUrl: `${simulator.url}?token=SECRET` });
      const [, shown] = await list();
      expect((await panel.ask('PATCH', '/slots/b', { ...shown.settings, weight: 2 })).weight).to.equal(2);
    });
  });

  it('lets no slot grow beyond 64 KB, change by change', async () => {
    await create({ headers: { one: 'x'.repeat(40_000) } });
    const error = await errorIn(
      await panel.fetch('PATCH', '/slots/b', { headers: { two: 'x'.repeat(40_000) } }),
    );
    expect(error).to.include({ status: 400, code: 'invalid_request' });
    expect(error.message).to.equal('body: a slot has at most 65536 bytes of settings');
  });

  it('keeps the state of a slot that is changed', async () => {
    await create();
    expect(await panel.ask('POST', '/slots/b/pause')).to.deep.include({ state: 'paused' });
    expect(await panel.ask('PATCH', '/slots/b', { weight: 3 })).to.deep.include({
      state: 'paused',
      weight: 3,
    });
    expect(await panel.ask('POST', '/slots/b/drain')).to.deep.include({ state: 'draining' });
    expect(await panel.ask('POST', '/slots/b/resume')).to.deep.include({ state: 'ready' });
  });

  it('takes a slot away, and its tokens with it', async () => {
    await create();
    const tokens = { accessToken: 'a', refreshToken: 'r', origin: 'o' };
    await under.gateway.services.store.credentials.put('b', tokens);
    expect((await panel.fetch('DELETE', '/slots/b')).status).to.equal(204);
    expect(await list()).to.have.length(1);
    expect(await under.gateway.services.store.credentials.get('b')).to.equal(undefined);
    expect(await errorIn(await panel.fetch('DELETE', '/slots/b'))).to.include({ code: 'not_found' });
    expect(await useB()).to.equal(503);
  });

  it('diagnoses a slot', async () => {
    await create();
    const { ok, steps } = await panel.ask('POST', '/slots/b/diagnose');
    expect(ok).to.equal(true);
    const names = steps.map(({ step }: Answer) => step);
    expect(names).to.deep.equal(['resolve', 'connect', 'request', 'credential']);
  });

  it('counts the sessions that the store has bound', async () => {
    const expiresAtMs = Date.now() + 60_000;
    for (const key of ['s', 't'])
      await under.gateway.services.store.bindings.put(key, { slotId: 'a', expiresAtMs });
    expect((await list())[0]).to.deep.include({ bindings: 2 });
  });

  it('leaves the slots of the config file alone, and says where they stand', async () => {
    for (const [method, path, body] of [
      ['PATCH', '/slots/a', { weight: 2 }],
      ['DELETE', '/slots/a', undefined],
      ['POST', '/slots', entry({ id: 'a' })],
    ] as const) {
      const error = await errorIn(await panel.fetch(method, path, body));
      expect(error).to.include({ status: 409, code: 'conflict' });
      expect(error.message).to.match(/at config:\d+:\d+/);
    }
    await create();
    expect(await errorIn(await panel.fetch('POST', '/slots', entry()))).to.include({ code: 'conflict' });
    const other = await errorIn(await panel.fetch('PATCH', '/slots/b', { id: 'c' }));
    expect(other.message).to.match(/^id: cannot be changed/);
    expect((await panel.ask('PATCH', '/slots/b', { id: 'b' })).id).to.equal('b');
  });

  for (const [fields, message] of [
    [{ id: undefined }, 'id: is required'],
    [{ id: 'a b' }, 'id: must be ASCII letters'],
    [{ id: 'x'.repeat(101) }, 'id: must have at most 100 characters'],
    [{ upstream: 'mesages' }, 'upstream: "mesages" is not built in; did you mean "messages"?'],
    [{ baseUrl: undefined }, 'baseUrl: is required'],
    [{ baseUrl: 'ftp://x' }, 'baseUrl: must be a URL that begins with http'],
    [{ account: undefined }, 'account: is required'],
    [{ account: { kind: 'key' } }, 'account.kind: "key" is not built in'],
    [{ account: { kind: 'api-key', key: '${TEAM_A_KEY}' } }, 'account.key: looks like a variable'],
    [{ account: { kind: 'api-key' } }, 'account.key: is required'],
    [{ maxConcurrent: '5' }, 'maxConcurrent: must be a whole number, not a string; write it without quotes'],
    [{ connectTimeout: '10' }, 'connectTimeout: must be a duration'],
    [{ proxy: 'egress:3128' }, 'proxy: must be a URL'],
    [{ headers: { 'x y': '1' } }, 'headers.x y: is not a header'],
    [{ account: { kind: 'api-key', key: 'two\nlines' } }, 'account.key: contains a line break'],
    [{ model: ['x'] }, 'model: is not a known key; did you mean "models"?'],
    [JSON.parse('{"__proto__":{"polluted":1}}'), '__proto__: is not a known key'],
  ] as const)
    it(`refuses ${JSON.stringify(fields).slice(0, 60)}: "${message.slice(0, 40)}"`, async () => {
      const body = Object.fromEntries([...Object.entries(entry()), ...Object.entries(fields)]);
      const error = await errorIn(await panel.fetch('POST', '/slots', body));
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.include(message);
      expect(({} as Answer).polluted).to.equal(undefined);
      expect(await list()).to.have.length(1);
    });

  it('tells all that is wrong at once', async () => {
    const error = await errorIn(await panel.fetch('POST', '/slots', { id: '', weight: 0, headers: [] }));
    expect(error.message.split('\n').map((line) => line.split(':')[0])).to.include.members([
      'id',
      'upstream',
      'weight',
      'headers',
    ]);
    for (const body of [[], 'slot', null, 5])
      expect(await errorIn(await panel.fetch('POST', '/slots', body))).to.include({
        code: 'invalid_request',
      });
  });

  it('refuses a patch that would make a slot unfit, and pollutes nothing', async () => {
    await create();
    const patch = JSON.parse('{"__proto__":{"polluted":1},"headers":{"__proto__":{"polluted":1}}}') as object;
    for (const bad of [{ baseUrl: null }, { weight: 0 }, { account: null }, patch])
      expect(await errorIn(await panel.fetch('PATCH', '/slots/b', bad))).to.include({ status: 400 });
    expect(({} as Answer).polluted).to.equal(undefined);
    expect(await useB()).to.equal('b');
  });

  it('goes on without what another GW_SECRET_KEY has sealed, and says so', async () => {
    await create();
    await restart('another key');
    const [a, b] = await list();
    expect(a).to.deep.include({ state: 'ready' });
    expect(b).to.deep.include({ id: 'b', state: 'unusable', source: 'console' });
    expect(b.problem).to.include('GW_SECRET_KEY');
    expect(under.logged.find(({ level, slot }) => level === 'error' && slot === 'b')).to.have.property(
      'problem',
    );
    for (const [method, path] of [
      ['PATCH', '/slots/b'],
      ['POST', '/slots/b/pause'],
      ['POST', '/slots/b/diagnose'],
    ] as const)
      expect(await errorIn(await panel.fetch(method, path, { weight: 2 }))).to.include({ code: 'conflict' });
    expect(await create({ id: 'c' })).to.deep.include({ state: 'ready' });
    expect((await panel.fetch('DELETE', '/slots/b')).status).to.equal(204);
    expect(await create()).to.deep.include({ state: 'ready' });
  });

  it('goes on without what no longer passes the check', async () => {
    const stored = {
      settings: { upstream: 'gone' },
      account: { kind: 'none' },
      createdAtMs: 1,
      updatedAtMs: 1,
    };
    await under.gateway.services.store.slots.put({ id: 'old', ...stored });
    await restart();
    const [, old] = await list();
    expect(old).to.deep.include({ id: 'old', state: 'unusable' });
    expect(old.problem).to.include('"gone" is not built in');
    expect((await panel.ask('PATCH', '/slots/old', { upstream: 'simulator' })).state).to.equal('ready');
  });

  it('prefers the config file where both have an id, and warns', async () => {
    const { slots } = under.gateway.services.store;
    await slots.put({
      id: 'a',
      settings: { upstream: 'simulator' },
      account: { kind: 'none' },
      createdAtMs: 1,
      updatedAtMs: 1,
    });
    await restart();
    expect((await list()).map(({ id, source, upstream }) => [id, source, upstream])).to.deep.equal([
      ['a', 'config', 'messages'],
    ]);
    expect(under.logged.filter(({ level, slot }) => level === 'warn' && slot === 'a')).to.have.length(1);
  });

  it('needs GW_SECRET_KEY, and says so', async () => {
    await restart('');
    const error = await errorIn(await panel.fetch('POST', '/slots', entry()));
    expect(error).to.include({ status: 409, code: 'conflict' });
    expect(error.message).to.include('GW_SECRET_KEY is not set');
    expect(await list()).to.have.length(1);
  });

  it('sends no secret back, whatever is asked', async () => {
    const secrets = {
      headers: { 'x-extra': 'SECRET-header' },
      proxy: 'http://SECRET-user:SECRET-pass@127.0.0.1:9',
      baseUrl: `${simulator.url}?token=SECRET-query`,
    };
    const oauth = {
      kind: 'oauth',
      accessToken: 'SECRET-access',
      refreshToken: 'SECRET-refresh',
      tokenUrl: 'http://SECRET-token-user:SECRET-token-pass@127.0.0.1:9/token?key=SECRET-token-query',
      clientId: 'client',
      clientSecret: 'SECRET-client',
    };
    const texts: string[] = [];
    const statuses: number[] = [];
    const keep = async (response: Response) => {
      statuses.push(response.status);
      texts.push(await response.text());
    };
    await keep(
      await panel.fetch(
        'POST',
        '/slots',
        entry({ ...secrets, account: { kind: 'api-key', key: 'SECRET-key' } }),
      ),
    );
    await keep(await panel.fetch('POST', '/slots', entry({ ...secrets, id: 'c', account: oauth })));
    await keep(await panel.fetch('PATCH', '/slots/c', { weight: 2, account: { accessToken: 'SECRET-two' } }));
    await keep(await panel.fetch('PATCH', '/slots/c', { weight: 0 }));
    for (const verb of ['pause', 'resume', 'drain', 'diagnose'])
      await keep(await panel.fetch('POST', `/slots/b/${verb}`));
    expect(statuses).to.deep.equal([201, 201, 200, 400, 200, 200, 200, 200]);
    await under.post('/v1/messages', ask('Hello!'));
    for (const path of [
      ...['status', 'session', 'keys', 'slots', 'usage', 'requests', 'pipeline', 'models'].map(
        (name) => `/api/panel/${name}`,
      ),
      ...['slots', 'pipeline', 'config'].map((name) => `/admin/${name}`),
      '/openapi.json',
      '/metrics',
      '/health',
    ])
      await keep(await under.get(path));
    texts.push(JSON.stringify(under.logged));
    expect(texts.join('\n')).not.to.match(/SECRET|upstream-key/);
  });
});
