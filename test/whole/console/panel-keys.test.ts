import { expect } from 'chai';
import { ask, startGateway, type GatewayUnderTest } from '../harness.js';
import { errorIn } from '../kit.js';
import { PanelClient, type Answer } from './panel-client.js';

describe('/api/panel/keys', () => {
  let nowMs: number;
  let under: GatewayUnderTest;
  let panel: PanelClient;
  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1);
    under = await startGateway({ slots: [{ id: 'a', upstream: 'simulator' }] }, {}, () => nowMs);
    panel = new PanelClient(under.url);
  });
  afterEach(() => under.close());

  const issue = (fields: object = {}): Promise<Answer> =>
    panel.ask('POST', '/keys', { name: 'laptop', ...fields });
  const use = async (key: string) =>
    (await under.post('/v1/messages', ask('Hello!'), { 'x-api-key': key })).status;

  it('issues a key that works at once, and shows it once', async () => {
    const response = await panel.fetch('POST', '/keys', { name: 'laptop' });
    expect(response.status).to.equal(201);
    const { key, unknown_models: unknown, ...report } = (await response.json()) as Answer;
    expect(unknown).to.deep.equal([]);
    expect(key).to.match(/^sk-gw-[\w-]{43}$/);
    expect(await use(key)).to.equal(200);
    const { data } = await panel.get('/keys');
    expect(data).to.deep.equal([{ ...report, stored_responses: null }]);
    expect(report).to.deep.include({ name: 'laptop', last4: key.slice(-4), models: null, revoked_at: null });
    expect(report.created_at).to.equal('2026-01-01T00:00:00.000Z');
    expect(JSON.stringify(data)).not.to.include(key);
    await under.gateway.services.keys.flush();
    expect((await panel.get('/keys')).data[0].last_used_at).to.equal('2026-01-01T00:00:00.000Z');
  });

  it('says which models of a key nobody here knows', async () => {
    const models = ['sonnet-5', 'sonnet-*', 'sonet-5', 'gtp-*'];
    const made = await issue({ models });
    expect(made).to.deep.include({ models, unknown_models: ['sonet-5', 'gtp-*'] });
    const changed = await panel.ask('PATCH', `/keys/${made.id}`, { models: ['sonnet-5'] });
    expect(changed.unknown_models).to.deep.equal([]);
    const kept = await panel.ask('PATCH', `/keys/${made.id}`, { models: ['opus-fife'] });
    expect(kept.unknown_models).to.deep.equal(['opus-fife']);
  });

  it('issues keys with every limit, and changes them by a merge patch', async () => {
    const limits = {
      expires_at: '2026-02-01T00:00:00.000Z',
      models: ['sonnet-*'],
      slots: ['team-a', 'red-*'],
      requests_per_minute: 1,
      tokens_per_minute: 2,
      tokens_per_day: 3,
      tokens_per_month: 4,
      max_concurrent: 5,
      note: 'über',
    };
    const made = await issue(limits);
    expect(made).to.deep.include(limits);
    const changed = await panel.ask('PATCH', `/keys/${made.id}`, {
      name: 'desk',
      models: null,
      note: null,
      tokens_per_day: 30,
      expires_at: nowMs + 1000,
    });
    expect(changed).to.deep.include({
      ...limits,
      name: 'desk',
      models: null,
      note: null,
      tokens_per_day: 30,
      expires_at: '2026-01-01T00:00:01.000Z',
    });
    const { unknown_models: _, ...report } = changed;
    expect((await panel.get('/keys')).data).to.deep.equal([{ ...report, stored_responses: null }]);
    expect(await panel.ask('PATCH', `/keys/${made.id}`, {})).to.deep.equal(changed);
  });

  it('refuses an expiry in the past, and one in seconds, but keeps one that has passed', async () => {
    const refusalOf = async (method: string, path: string, body: object) =>
      errorIn(await panel.fetch(method, path, body));
    const seconds = nowMs / 1000 + 3600;
    const { id } = await issue({ expires_at: nowMs + 1000 });
    for (const [method, path] of [
      ['POST', '/keys'],
      ['PATCH', `/keys/${id}`],
    ] as const) {
      const past = await refusalOf(method, path, { name: 'n', expires_at: '2020-01-01' });
      expect(past).to.include({ status: 400, message: 'expires_at: must be in the future' });
      const firstYear = await refusalOf(method, path, { name: 'n', expires_at: '0001-01-01T00:00:00Z' });
      expect(firstYear).to.include({ status: 400, message: 'expires_at: must be in the future' });
      const unit = await refusalOf(method, path, { name: 'n', expires_at: seconds });
      expect(unit).to.include({
        status: 400,
        message: `expires_at: must be in the future: in milliseconds, ${seconds * 1000}, or as a time such as ${new Date(seconds * 1000).toISOString()}`,
      });
    }
    const [before] = (await panel.get('/keys')).data;
    nowMs += 2000;
    const kept = await panel.ask('PATCH', `/keys/${id}`, { note: 'gone', expires_at: before.expires_at });
    expect(kept).to.include({ note: 'gone', expires_at: before.expires_at });
  });

  it('lists the newest first', async () => {
    for (const name of ['first', 'second', 'third']) {
      nowMs += 1;
      await issue({ name });
    }
    const { data } = await panel.get('/keys');
    expect(data.map(({ name }: Answer) => name)).to.deep.equal(['third', 'second', 'first']);
  });

  it('revokes at once, lets in again, and removes for good', async () => {
    const { id, key } = await issue();
    expect(await use(key)).to.equal(200);
    const revoked = await panel.ask('DELETE', `/keys/${id}`);
    expect(revoked.revoked_at).to.equal('2026-01-01T00:00:00.000Z');
    expect(await use(key)).to.equal(401);
    nowMs += 5000;
    expect(await panel.ask('DELETE', `/keys/${id}`)).to.deep.equal(revoked);
    expect((await panel.ask('PATCH', `/keys/${id}`, { revoked_at: null })).revoked_at).to.equal(null);
    expect(await use(key)).to.equal(200);
    expect((await panel.fetch('DELETE', `/keys/${id}?purge=true`)).status).to.equal(204);
    expect(await use(key)).to.equal(401);
    for (const [method, path, body] of [
      ['DELETE', `/keys/${id}`, undefined],
      ['DELETE', `/keys/${id}?purge=true`, undefined],
      ['PATCH', `/keys/${id}`, { name: 'x' }],
      ['PATCH', '/keys/%00', { name: 'x' }],
    ] as const)
      expect(await errorIn(await panel.fetch(method, path, body))).to.include({ code: 'not_found' });
    expect((await panel.get('/keys')).data).to.deep.equal([]);
  });

  it('rotates a key without a gap: both secrets work for the grace, and then the new one alone', async () => {
    const { id, key, ...made } = await issue({ tokens_per_day: 1000, note: 'stays' });
    expect(await use(key)).to.equal(200);
    const response = await panel.fetch('POST', `/keys/${id}/rotate`, { grace: '1h' });
    expect(response.status).to.equal(200);
    const { key: next, ...rotated } = (await response.json()) as Answer;
    expect(next)
      .to.match(/^sk-gw-[\w-]{43}$/)
      .and.not.equal(key);
    const former_secrets = [{ last4: key.slice(-4), ends_at: '2026-01-01T01:00:00.000Z' }];
    const last4 = next.slice(-4);
    expect(rotated).to.deep.equal({ ...made, id, last4, former_secrets, last_used_at: rotated.last_used_at });
    expect([await use(key), await use(next)]).to.deep.equal([200, 200]);
    nowMs += 3_600_000 - 1;
    expect([await use(key), await use(next)]).to.deep.equal([200, 200]);
    nowMs += 1;
    expect([await use(key), await use(next)]).to.deep.equal([401, 200]);
    expect((await panel.get('/keys')).data[0]).to.deep.include({ last4, former_secrets: [], note: 'stays' });
    const [entry] = (await panel.get('/audit?action=key.rotate')).data;
    expect(entry).to.deep.include({ action: 'key.rotate', target: id, outcome: 'done' });
    expect(JSON.stringify(entry)).to.include('"grace":"1h"').and.include(last4).and.not.include(next);
    await under.gateway.services.ledger.flush();
    const { data } = await panel.get('/requests');
    expect(new Set(data.map((row: Answer) => row.key.id))).to.deep.equal(new Set([id]));
  });

  it('ends all former secrets at once by a rotation without a grace, and one is a day by default', async () => {
    const { id, key } = await issue();
    const first = await panel.ask('POST', `/keys/${id}/rotate`, {});
    expect(first.former_secrets[0].ends_at).to.equal('2026-01-02T00:00:00.000Z');
    expect([await use(key), await use(first.key)]).to.deep.equal([200, 200]);
    const second = await panel.ask('POST', `/keys/${id}/rotate`, { grace: '0s' });
    expect(second.former_secrets).to.deep.equal([]);
    expect([await use(key), await use(first.key), await use(second.key)]).to.deep.equal([401, 401, 200]);
    const third = await panel.ask('POST', `/keys/${id}/rotate`, { grace: '1h' });
    await panel.ask('DELETE', `/keys/${id}`);
    expect([await use(second.key), await use(third.key)]).to.deep.equal([401, 401]);
  });

  it('refuses a rotation whose secret would not work, one of no key, and an eleventh secret', async () => {
    const { id } = await issue();
    const rotate = async (body: object, of = id) =>
      errorIn(await panel.fetch('POST', `/keys/${of}/rotate`, body));
    expect(await rotate({}, 'nobody')).to.include({ status: 404, code: 'not_found' });
    expect((await rotate({ grace: 5 })).message).to.include('grace: must be a duration');
    expect((await rotate({ grace: '366d' })).message).to.include('grace: must be at most 365d');
    for (let at = 0; at < 10; at += 1) await panel.ask('POST', `/keys/${id}/rotate`, {});
    expect(await rotate({})).to.include({ status: 409, code: 'conflict' });
    expect((await panel.fetch('POST', `/keys/${id}/rotate`, { grace: '0s' })).status).to.equal(200);
    await panel.ask('DELETE', `/keys/${id}`);
    expect((await rotate({})).message).to.include('is revoked');
    await panel.ask('PATCH', `/keys/${id}`, { revoked_at: null, expires_at: nowMs + 1 });
    nowMs += 1;
    expect((await rotate({})).message).to.include('has expired');
  });

  it('keeps the name of a key that is gone for the requests that were made with it', async () => {
    const { id, key } = await issue();
    expect(await use(key)).to.equal(200);
    await panel.fetch('DELETE', `/keys/${id}?purge=true`);
    await under.gateway.services.ledger.flush();
    const { data } = await panel.get('/requests');
    expect(data[0].key).to.deep.equal({ id, name: 'laptop' });
    nowMs += 1000;
    const { data: sums } = await panel.get('/usage?by=key');
    expect(sums.map(({ name }: Answer) => name)).to.deep.equal(['laptop']);
  });

  for (const [body, message] of [
    [{}, 'name: is required'],
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 'a\0b' }, 'name: must match'],
    [{ name: 'n', note: 'a\0b' }, 'note: must match'],
    [{ name: 'n'.repeat(201) }, 'name: must have at most 200 characters'],
    [{ name: 'n', models: [] }, 'models: must have at least 1 item(s)'],
    [{ name: 'n', models: 'sonnet-5' }, 'models: must be an array'],
    [{ name: 'n', slots: [''] }, 'slots[0]: must not be empty'],
    [{ name: 'n', requests_per_minute: 0 }, 'requests_per_minute: must be at least 1'],
    [{ name: 'n', tokens_per_day: 1.5 }, 'tokens_per_day: must be a whole number'],
    [{ name: 'n', expires_at: 'tomorrow' }, 'expires_at: must be a time such as'],
    [{ name: 'n', expires_at: 1e16 }, 'expires_at: must be a time such as'],
    [{ name: 'n', revoked_at: null }, 'revoked_at: is not a known key'],
    [{ name: 'n', hash: 'x' }, 'hash: is not a known key'],
    [JSON.parse('{"name":"n","__proto__":{"polluted":true}}'), '__proto__: is not a known key'],
  ] as const)
    it(`refuses ${JSON.stringify(body).slice(0, 60)}: "${message}"`, async () => {
      const error = await errorIn(await panel.fetch('POST', '/keys', body));
      expect(error).to.include({ status: 400, code: 'invalid_request' });
      expect(error.message).to.include(message);
      expect(({} as Answer).polluted).to.equal(undefined);
    });

  it('refuses an unknown parameter, and one that is given twice', async () => {
    const { id } = await issue();
    for (const [query, message] of [
      ['purg=true', 'purg: is not a known key; did you mean "purge"?'],
      ['purge=yes', 'purge: must be true or false'],
      ['purge=true&purge=true', 'purge: is given more than once'],
    ] as const) {
      const error = await errorIn(await panel.fetch('DELETE', `/keys/${id}?${query}`));
      expect(error.code).to.equal('invalid_request');
      expect(error.message).to.include(message);
    }
    expect((await panel.get('/keys')).data).to.have.length(1);
  });
});
