import { expect } from 'chai';
import { ask, type Pair } from '../harness.js';
import { errorIn, issueKey, only, startTeam } from '../kit.js';
import { followRequests } from './live-requests.js';
import { PanelClient, type Answer } from './panel-client.js';

describe('/api/panel/requests and /usage', () => {
  let team: Pair;
  let panel: PanelClient;
  beforeEach(async () => {
    team = await startTeam();
    panel = new PanelClient(team.url);
  });
  afterEach(() => team.close());

  const send = async (text: string, fields: object = {}, headers: Readonly<Record<string, string>> = {}) =>
    (await team.post('/v1/messages', ask(text, fields), headers)).text();
  const written = async () => {
    await team.gateway.exchanges.idle();
    await team.gateway.services.ledger.flush();
  };
  const follow = (query = '') => followRequests(team.url, query);
  const list = async (query = ''): Promise<readonly Answer[]> => (await panel.get(`/requests${query}`)).data;

  it('show who asked for what, how it went and what it cost, newest first', async () => {
    const key = await issueKey(team, 'laptop');
    await send('Hello!', {}, { 'x-api-key': key, 'x-request-id': 'mine' });
    await send('[[sim:400 message="no"]]');
    await written();
    const [refused, answered] = await list();
    expect(answered).to.deep.include({
      request_id: 'mine',
      key: { id: 'laptop', name: 'laptop' },
      model: 'sonnet-5',
      format: 'messages',
      pipeline: 'default',
      status: 200,
      code: null,
      failed: false,
      streamed: false,
      attempts: 1,
    });
    expect(answered.billed.input).to.be.above(answered.shown.input);
    expect(answered.slot).to.match(/^[ab]$/);
    expect(refused).to.deep.include({ status: 400, failed: true, key: { id: 'master', name: 'master' } });
  });

  it('are found by what they are, and paged', async () => {
    for (const text of ['1', '2', '3', '4', '5']) await send(text, {}, { 'x-request-id': `r${text}` });
    await send('[[sim:400 message="no"]]');
    await written();
    const ids = async (query: string) => (await list(query)).map(({ request_id: id }) => id);
    expect(await ids('?request_id=r3')).to.deep.equal(['r3']);
    expect(await ids('?failed=false&limit=2')).to.deep.equal(['r5', 'r4']);
    expect(await list('?failed=true')).to.have.length(1);
    expect(
      await list('?status=400&code=invalid_request_error&model=sonnet-5&format=messages&key=master'),
    ).to.have.length(1);
    expect(await list('?format=chat')).to.deep.equal([]);
    expect(await list('?to=2026-01-01')).to.deep.equal([]);
    const first = await panel.get('/requests?failed=false&limit=3');
    expect(first).to.deep.include({ has_more: true });
    const second = await panel.get(`/requests?failed=false&limit=3&cursor=${first.next_cursor}`);
    expect(second).to.deep.include({ has_more: false, next_cursor: null });
    const seen = [...first.data, ...second.data].map(({ request_id: id }: Answer) => id);
    expect(seen).to.deep.equal(['r5', 'r4', 'r3', 'r2', 'r1']);
  });

  it('show one with its stages and its calls', async () => {
    team.simulator.faults.push(only('a', '529'), only('b', '529'));
    team.gateway.services.slots.pause('b');
    await send('[[sim:529 times=1]] Hello!');
    team.gateway.services.slots.resume('b');
    await send('Hello!');
    await written();
    const [latest] = await list();
    const shown = await panel.get(`/requests/${latest.id}`);
    const { stages, calls, additions, answered_by: answeredBy, error_text: errorText, ...report } = shown;
    expect(additions).to.be.an('array');
    expect(answeredBy, 'the model that was asked').to.equal(null);
    expect(errorText).to.deep.equal({ state: 'off', text: null, calls: [], until: null });
    expect(report).to.deep.equal(latest);
    expect(stages.map(({ stage }: Answer) => stage)).to.include.members(['auth', 'upstream-call']);
    expect(calls.length).to.equal(latest.attempts);
    expect(calls.at(-1)).to.deep.include({ slot: latest.slot });
    for (const { ms } of [...stages, ...calls])
      expect(ms * 100, 'hundredths').to.be.closeTo(Math.round(ms * 100), 1e-6);
  });

  it('tell what they cost, what stages added, how long they waited and of which session they are', async () => {
    const tokens = { input: 1, cacheRead: 2, cacheWrite5m: 3, cacheWrite1h: 4, output: 5 };
    const row = {
      atMs: Date.now() - 1000,
      requestId: 'priced',
      format: 'messages',
      pipeline: 'default',
      status: 200,
      failed: false,
      streamed: true,
      attempts: 1,
      durationMs: 90,
      billed: tokens,
      shown: tokens,
    };
    await team.gateway.services.store.ledger.append([
      {
        ...row,
        id: 'priced',
        team: 'red',
        session: '0123456789abcdef',
        queueMs: 12,
        outputMs: 60,
        cost: { billed: 2_500_000_000, shown: 1_000_000 },
        additions: { persona: { tokens, cost: 7_000_000 }, search: { tokens } },
      },
      { ...row, id: 'unpriced', requestId: 'unpriced' },
    ]);
    const [priced] = await list('?session=0123456789abcdef&team=red');
    const { additions, ...shown } = await panel.get(`/requests/${priced.id}`);
    expect(shown).to.include({ queue_ms: 12, output_ms: 60, team: 'red', session: '0123456789abcdef' });
    expect(shown.cost).to.deep.equal({ billed_usd: 2.5, shown_usd: 0.001 });
    expect(additions.map(({ stage, cost_usd: usd }: Answer) => [stage, usd])).to.deep.equal([
      ['persona', 0.007],
      ['search', null],
    ]);
    expect((await list('?request_id=unpriced'))[0]).to.deep.include({
      cost: null,
      queue_ms: null,
      session: null,
    });
    const total = { billed_usd: 2.5, shown_usd: 0.001, unpriced_requests: 1 };
    for (const step of ['1h', '5m'])
      expect((await panel.get(`/usage?step=${step}`)).data[0].cost).to.deep.equal(total);
    const byStage = (await panel.get('/usage?by=stage')).data.map(({ name, cost }: Answer) => [name, cost]);
    expect(byStage).to.deep.equal([
      ['persona', { billed_usd: 0.007, shown_usd: 0, unpriced_requests: 0 }],
      ['search', { billed_usd: 0, shown_usd: 0, unpriced_requests: 1 }],
    ]);
  });

  it('do not know what is not there', async () => {
    for (const id of ['x', '1.x', '%00', '1.%27', 'x'.repeat(400), '99999999999999999.a'])
      expect(await errorIn(await panel.fetch('GET', `/requests/${id}`)), id).to.include({
        code: 'not_found',
      });
  });

  for (const [query, message] of [
    ['limit=0', 'limit: must be at least 1'],
    ['limit=1001', 'limit: must be at most 1000'],
    ['limit=ten', 'limit: must be a whole number, not a string'],
    ['cursor=x', 'cursor: does not come'],
    ['from=yesterday', 'from: must be a time such as'],
    ['format=xml', 'format: must be one of "messages"'],
    ['failed=1', 'failed: must be true or false'],
    ['key=%00', 'key: must match'],
    ['slots=a', 'slots: is not a known key; did you mean "slot"?'],
    ['__proto__=a', '__proto__: is not a known key'],
  ] as const)
    it(`refuse ?${query}: "${message}"`, async () => {
      const error = await errorIn(await panel.fetch('GET', `/requests?${query}`));
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.include(message);
    });

  it('add up by time and group', async () => {
    const key = await issueKey(team, 'laptop', { name: 'The laptop' });
    await send('Hello!', {}, { 'x-api-key': key });
    await send('[[sim:400]]');
    await written();
    const whole = await panel.get('/usage');
    expect(whole).to.deep.include({ by: null, step_seconds: 3600 });
    expect(whole.data).to.have.length(1);
    expect(whole.data[0]).to.deep.include({ group: null, name: null, requests: 2, errors: 1 });
    expect(whole.data[0].billed.output).to.be.above(0);
    expect(Date.parse(whole.from)).to.be.at.most(Date.now() - 24 * 3_600_000);
    const byKey = (await panel.get('/usage?by=key&step=5m')).data.map(({ group, name }: Answer) => [
      group,
      name,
    ]);
    expect(byKey).to.deep.equal([
      ['laptop', 'The laptop'],
      ['master', 'master'],
    ]);
    expect((await panel.get('/usage?by=format&step=1d')).data[0]).to.deep.include({ name: 'messages' });
    expect((await panel.get('/usage?from=2026-01-01&to=2026-01-02')).data).to.deep.equal([]);
  });

  it('add up those that match, in total and by a group', async () => {
    const key = await issueKey(team, 'laptop', { name: 'The laptop' });
    await send('Hello!', {}, { 'x-api-key': key });
    await send('Hello!');
    await send('[[sim:400]]');
    await written();
    const requests = async (query: string) =>
      (await panel.get(`/usage?${query}`)).data.map(({ group, requests, errors }: Answer) => [
        group,
        requests,
        errors,
      ]);
    for (const step of ['1h', '5m']) {
      expect(await requests(`step=${step}&key=laptop`)).to.deep.equal([[null, 1, 0]]);
      expect(await requests(`step=${step}&failed=true&status=400`)).to.deep.equal([[null, 1, 1]]);
      expect(await requests(`step=${step}&key=master&by=model&format=messages`)).to.deep.equal([
        ['sonnet-5', 2, 1],
      ]);
      expect(await requests(`step=${step}&session=nobody`)).to.deep.equal([]);
      expect(await requests(`step=${step}&cause=expired`)).to.deep.equal([]);
    }
    expect(await requests('from=2020-01-01&step=30d&key=laptop&by=key')).to.deep.equal([['laptop', 1, 0]]);
    expect(await requests('from=2020-01-01&step=30d&slot=nobody')).to.deep.equal([]);
  });

  for (const [query, message] of [
    ['by=caller', 'by: must be one of "key"'],
    ['cause=bad luck', 'cause: must be one of'],
    ['format=xml', 'format: must be one of "messages"'],
    ['from=2026-01-01&to=2026-03-01&step=1d&by=key&slot=a', 'from: these filters count request by request'],
    ['from=2026-01-01&to=2026-03-01&step=1d&status=400', 'limited to 31 days'],
    ['step=5', 'step: must be a duration'],
    ['step=0s', 'step: must be at least "1s"'],
    ['step=1s', 'step: makes 86400 buckets'],
    ['from=2026-01-01&to=2026-01-03&step=90m', 'step: must be whole hours, such as "1h"'],
    ['from=2026-01-02&to=2026-01-01', 'from: must be before `to`'],
    ['from=0&to=253370764800000&step=1h', 'buckets of this time'],
    ['from=999999999999999', 'from: must be a time such as'],
  ] as const)
    it(`do not add up ?${query}: "${message}"`, async () => {
      const error = await errorIn(await panel.fetch('GET', `/usage?${query}`));
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.include(message);
    });

  it('are told of as they end, to those who ask for such', async () => {
    const all = await follow();
    const failed = await follow('?failed=true');
    await send('Hello!', {}, { 'x-request-id': 'good' });
    await send('[[sim:400]]', {}, { 'x-request-id': 'bad' });
    expect((await all.next()).request_id).to.equal('good');
    expect((await all.next()).request_id).to.equal('bad');
    const told = await failed.next();
    expect(told.request_id).to.equal('bad');
    expect(await panel.get(`/requests/${told.id}`)).to.deep.include(told);
    await team.gateway.services.ledger.flush();
    const [row] = await list();
    expect(told).to.deep.equal(row);
    await Promise.all([all.leave(), failed.leave()]);
  });

  it('keep a shutdown waiting no longer than it takes to say so', async () => {
    const live = await follow();
    await Promise.all([team.gateway.close(), live.rest()]);
    expect(await live.rest()).to.include('the gateway is shutting down');
  });

  it('are told of to a bounded number of readers', async () => {
    const readers = await Promise.all(Array.from({ length: 100 }, () => follow()));
    const refused = await panel.fetch('GET', '/requests/live');
    expect(await errorIn(refused)).to.include({ status: 429, code: 'rate_limited' });
    await Promise.all(readers.map((reader) => reader.leave()));
    await team.gateway.exchanges.idle();
    await (await follow()).leave();
  });
});
