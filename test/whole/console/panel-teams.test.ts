import { expect } from 'chai';
import { ask, stages, startGateway, type GatewayUnderTest } from '../harness.js';
import { errorIn } from '../kit.js';
import { PanelClient, type Answer } from './panel-client.js';

describe('/api/panel/teams', () => {
  let nowMs: number;
  let under: GatewayUnderTest;
  let panel: PanelClient;
  const start = async (config: object = {}) => {
    under = await startGateway({ slots: [{ id: 'a', upstream: 'simulator' }], ...config }, {}, () => nowMs);
    panel = new PanelClient(under.url);
  };
  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1, 12);
    await start();
  });
  afterEach(() => under.close());

  const make = (fields: object = {}): Promise<Answer> =>
    panel.ask('POST', '/teams', { name: 'search', ...fields });
  const issue = (fields: object = {}): Promise<Answer> =>
    panel.ask('POST', '/keys', { name: 'laptop', ...fields });
  const use = async (key: string): Promise<Response> => {
    const answer = await under.post('/v1/messages', ask('Hello!'), { 'x-api-key': key });
    await answer.clone().text();
    await under.gateway.exchanges.idle();
    return answer;
  };
  const listed = async (): Promise<Answer> => (await panel.get('/teams')).data;

  it('makes teams with every limit, and changes them by a merge patch', async () => {
    const limits = {
      requests_per_minute: 1,
      tokens_per_minute: 2,
      tokens_per_day: 3,
      tokens_per_month: 4,
      usd_per_day: 0.5,
      usd_per_month: 6,
      max_concurrent: 5,
      note: 'über',
    };
    const made = await make(limits);
    expect(made).to.deep.include({
      name: 'search',
      keys: 0,
      created_at: '2026-01-01T12:00:00.000Z',
      ...limits,
    });
    expect(made.used.usd_per_day).to.deep.equal({ amount: 0, resets_at: '2026-01-02T00:00:00.000Z' });
    expect(made.used.requests_per_minute).to.deep.equal({ amount: 0, resets_at: null });
    const changed = await panel.ask('PATCH', `/teams/${made.id}`, {
      name: 'find',
      note: null,
      usd_per_day: null,
    });
    expect(changed).to.deep.include({ ...limits, name: 'find', note: null, usd_per_day: null });
    expect(changed.used.usd_per_day).to.equal(null);
    expect(await listed()).to.deep.equal([changed]);
  });

  it('holds a team to its limits at once, and shows what its keys have used', async () => {
    const { id } = await make({ requests_per_minute: 2, tokens_per_day: 1_000_000 });
    const keys = [await issue({ team: id }), await issue({ team: id })];
    expect(keys[0]).to.include({ team: id });
    for (const { key } of keys) expect((await use(key)).status).to.equal(200);
    const error = await errorIn(await use(keys[0].key));
    expect(error).to.include({ status: 429, code: 'rate_limited' });
    expect(error.message).to.include('The team "search" has reached its limit of 2 requests per minute');
    const [{ used, keys: count }] = await listed();
    expect(count).to.equal(2);
    expect(used.requests_per_minute).to.include({ amount: 2 });
    expect(used.tokens_per_day.amount).to.be.above(0);
    await panel.ask('PATCH', `/teams/${id}`, { requests_per_minute: null });
    expect((await use(keys[0].key)).status).to.equal(200);
  });

  it('writes the team of a request into the ledger', async () => {
    const { id } = await make();
    await use((await issue({ team: id })).key);
    await use((await issue()).key);
    const fromMs = nowMs - 1;
    const sums = await under.gateway.services.store.ledger.usage({
      fromMs,
      toMs: nowMs + 1,
      by: 'team',
      stepMs: 3_600_000,
    });
    expect(sums.map(({ group, requests }) => [group, requests])).to.deep.equal([
      ['', 1],
      [id, 1],
    ]);
  });

  it('are named in the usage by team, deleted ones too, beside their ids in CSV', async () => {
    const { id } = await make();
    const key = await issue({ team: id });
    await use(key.key);
    await use((await issue()).key);
    nowMs += 1;
    const groups = async () => {
      const { data } = await panel.get('/usage?by=team');
      return data.map(({ group, name }: Answer) => [group, name]);
    };
    expect(await groups()).to.deep.equal([
      ['', ''],
      [id, 'search'],
    ]);
    await panel.ask('PATCH', `/teams/${id}`, { name: 'find' });
    const csv = await (await panel.fetch('GET', '/usage?by=team&as=csv')).text();
    expect(csv).to.match(/^at,group,name,/);
    expect(csv).to.include(`,${id},find,`);
    await panel.fetch('DELETE', `/keys/${key.id}?purge=true`);
    await panel.fetch('DELETE', `/teams/${id}`);
    expect(await groups()).to.deep.include([id, 'find']);
  });

  it('takes a key out of its team, and into another one', async () => {
    const [full, free] = [await make({ requests_per_minute: 1 }), await make({ name: 'free' })];
    const { id, key } = await issue({ team: full.id });
    for (const status of [200, 429]) expect((await use(key)).status).to.equal(status);
    await panel.ask('PATCH', `/keys/${id}`, { team: free.id });
    expect((await use(key)).status).to.equal(200);
    await panel.ask('PATCH', `/keys/${id}`, { team: full.id });
    expect((await use(key)).status).to.equal(429);
    expect(await panel.ask('PATCH', `/keys/${id}`, { team: null })).to.include({ team: null });
    expect((await use(key)).status).to.equal(200);
  });

  it('is not deleted while keys belong to it, revoked ones too', async () => {
    const { id } = await make();
    const key = await issue({ team: id });
    await panel.ask('DELETE', `/keys/${key.id}`);
    const error = await errorIn(await panel.fetch('DELETE', `/teams/${id}`));
    expect(error).to.include({ status: 409, code: 'conflict' });
    expect(error.message).to.include('The team "search" has the key "laptop"');
    await panel.fetch('DELETE', `/keys/${key.id}?purge=true`);
    expect((await panel.fetch('DELETE', `/teams/${id}`)).status).to.equal(204);
    expect(await listed()).to.deep.equal([]);
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PATCH', { name: 'x' }],
    ] as const)
      expect(await errorIn(await panel.fetch(method, `/teams/${id}`, body))).to.include({
        code: 'not_found',
      });
  });

  for (const [body, message] of [
    [{}, 'name: is required'],
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 'n', usd_per_day: 0 }, 'usd_per_day: must be at least'],
    [{ name: 'n', usd_per_month: 1e7 }, 'usd_per_month: must be at most'],
    [{ name: 'n', tokens_per_day: 1.5 }, 'tokens_per_day: must be a whole number'],
    [{ name: 'n', id: 'x' }, 'id: is not a known key'],
  ] as const)
    it(`refuses ${JSON.stringify(body)}: "${message}"`, async () => {
      const error = await errorIn(await panel.fetch('POST', '/teams', body));
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.include(message);
    });

  it('takes a team by its name too, as long as that is the name of one', async () => {
    const { id } = await make({ name: 'search' });
    const key = await issue({ team: 'search' });
    expect(key.team).to.equal(id);
    await use(key.key);
    nowMs += 1;
    for (const path of ['/usage?team=search', '/requests?team=search', `/requests?team=${id}`])
      expect((await panel.get(path)).data, path).to.have.length(1);
    expect((await panel.get('/requests?team=other')).data).to.deep.equal([]);
    await make({ name: 'search' });
    const error = await errorIn(await panel.fetch('POST', '/keys', { name: 'n', team: 'search' }));
    expect(error).to.include({ status: 400 });
    expect(error.message).to.equal('team: there are 2 teams called "search"; name one by its id');
  });

  it('refuses a key of a team that there is not', async () => {
    const error = await errorIn(await panel.fetch('POST', '/keys', { name: 'n', team: 'team_x' }));
    expect(error).to.include({ status: 400, message: 'team: unknown team "team_x"' });
    const { id } = await issue();
    expect((await panel.fetch('PATCH', `/keys/${id}`, { team: 'team_x' })).status).to.equal(400);
  });

  it('takes and shows the pipeline of a team and of a key, and notes its change in the audit log', async () => {
    const { id } = await make({ pipeline: 'default' });
    const key = await issue({ team: id, pipeline: 'default' });
    expect(key).to.include({ pipeline: 'default' });
    expect((await listed())[0]).to.include({ pipeline: 'default' });
    for (const [path, none] of [
      [`/teams/${id}`, null],
      [`/keys/${key.id}`, ''],
    ] as const) {
      expect(await panel.ask('PATCH', path, { pipeline: none })).to.include({ pipeline: null });
      const [{ before, after }] = (await panel.get('/audit')).data;
      expect(before).to.include({ pipeline: 'default' });
      expect(after).to.include({ pipeline: null });
    }
  });

  it('refuses an unknown pipeline, and lists those that there are', async () => {
    const [{ id }, key] = [await make(), await issue()];
    for (const [method, path, body] of [
      ['POST', '/teams', { name: 'n', pipeline: 'red' }],
      ['PATCH', `/teams/${id}`, { pipeline: 'red' }],
      ['POST', '/keys', { name: 'n', pipeline: 'red' }],
      ['PATCH', `/keys/${key.id}`, { pipeline: 'red' }],
    ] as const) {
      const error = await errorIn(await panel.fetch(method, path, body));
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.equal('pipeline: unknown pipeline "red"; there are "default"');
    }
    expect((await panel.get('/pipelines')).data).to.deep.equal([{ name: 'default' }]);
  });

  it('refuses a budget that no stage counts, and says why', async () => {
    await under.close();
    await start({ pipeline: stages({ without: ['rate-limit'] }) });
    const { id } = await make();
    for (const [method, path, body] of [
      ['POST', '/teams', { name: 'n', usd_per_month: 1 }],
      ['PATCH', `/teams/${id}`, { usd_per_day: 1 }],
      ['POST', '/keys', { name: 'n', usd_per_day: 1 }],
    ] as const) {
      const error = await errorIn(await panel.fetch(method, path, body));
      expect(error).to.include({ status: 409, code: 'conflict' });
      expect(error.message).to.match(
        /^usd_per_(day|month): no stage of the pipeline enforces budgets; list rate-limit/,
      );
    }
    await panel.ask('PATCH', `/teams/${id}`, { usd_per_day: null });
  });
});
