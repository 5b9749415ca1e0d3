import { expect } from 'chai';
import { eventually } from '../../eventually.js';
import { aViewer, sessionOf, withOidc } from './console-login.js';
import { ask, masterKey, startGateway, startPair, slotAt, type Pair } from '../harness.js';
import { startHeldUpstream } from '../held-upstream.js';
import { callsTo, errorIn, issueKey } from '../kit.js';

interface Told {
  readonly type: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a test reads of it
  readonly data: any;
}

describe('POST /api/panel/playground', () => {
  let pair: Pair;
  beforeEach(async () => {
    pair = await startPair(withOidc);
  });
  afterEach(() => pair.close());

  const run = (body: object, headers: object = { 'x-api-key': masterKey }): Promise<Response> =>
    fetch(`${pair.url}/api/panel/playground`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const told = async (body: object): Promise<readonly Told[]> => {
    const response = await run(body);
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    return [...text.matchAll(/event: (\w+)\ndata: (.*)\n/g)].map(([, type, data]) => ({
      type: type!,
      data: JSON.parse(data!),
    }));
  };
  const answerIn = (events: readonly Told[]): string =>
    events.flatMap(({ type, data }) => (type === 'data' ? data.text : [])).join('');
  const keyId = async (fields: object = {}): Promise<string> => {
    await issueKey(pair, 'play', fields);
    const [key] = await pair.gateway.services.store.keys.list();
    return key!.id;
  };

  for (const [post, body, ending] of [
    ['/v1/messages', ask('Hello!', { stream: true }), 'message_stop'],
    [
      '/v1/chat/completions',
      { model: 'sonnet-5', stream: true, messages: [{ role: 'user', content: 'Hi' }] },
      '[DONE]',
    ],
    ['/responses', { model: 'sonnet-5', input: 'Hi' }, '"status":"completed"'],
    ['/v1/completions', { model: 'sonnet-5', prompt: 'Hi' }, 'finish_reason'],
  ] as const)
    it(`runs ${post} as a key, and tells stages, answer and row as they come`, async () => {
      const as = await keyId();
      const events = await told({ post, body, as });
      const types = events.map(({ type }) => type);
      expect([types[0], types.at(-1)]).to.deep.equal(['start', 'done']);
      expect(types).to.include.members(['progress', 'head', 'data']);
      expect(types.indexOf('head')).to.be.below(types.indexOf('data'));
      expect(events.find(({ type }) => type === 'head')!.data).to.deep.include({ status: 200 });
      expect(answerIn(events)).to.include(ending);
      const { request } = events.at(-1)!.data;
      expect(request).to.deep.include({ status: 200, slot: 'a', attempts: 1, key: { id: as, name: 'play' } });
      expect(request.request_id).to.equal(events[0]!.data.request_id);
      expect(request.stages.map(({ stage }: { stage: string }) => stage)).to.include('slot-pick');
      await pair.gateway.fleet.flushLedger();
      const { rows } = await pair.gateway.services.store.ledger.requests({ keyId: as }, { limit: 5 });
      expect(rows.map(({ requestId }) => requestId)).to.deep.equal([request.request_id]);
    });

  it('holds the key to its models and limits, and refuses one that is revoked', async () => {
    const status = (events: readonly Told[]) => events.find(({ type }) => type === 'head')!.data.status;
    const body = ask('Hello!');
    const narrow = await keyId({ models: ['haiku-*'] });
    expect(status(await told({ body, as: narrow }))).to.equal(403);
    const as = await keyId({ requestsPerMinute: 1 });
    expect(status(await told({ body, as }))).to.equal(200);
    expect(status(await told({ body, as }))).to.equal(429);
    await fetch(`${pair.url}/api/panel/keys/${as}`, {
      method: 'DELETE',
      headers: { 'x-api-key': masterKey },
    });
    const revoked = await told({ body, as });
    expect(status(revoked)).to.equal(401);
    expect(revoked.at(-1)).to.deep.equal({ type: 'done', data: { request: null } });
    expect(callsTo(pair.simulator)).to.have.length(1);
  });

  it('runs as the master key', async () => {
    const events = await told({ body: ask('Hello!'), as: 'master' });
    expect(events.at(-1)!.data.request.key.id).to.equal('master');
  });

  it('is for admins, for calls of models, and for keys that there are', async () => {
    const viewer = await sessionOf(pair, aViewer);
    expect(await errorIn(await run({ body: ask('Hi') }, viewer))).to.include({
      status: 403,
      code: 'forbidden',
    });
    for (const post of [
      '/admin/reload',
      '/api/panel/keys',
      '/metrics',
      '/v1/models',
      '/v1/messages/../models',
    ])
      expect(await errorIn(await run({ post, body: {} })), post).to.include({ status: 400 });
    expect(await errorIn(await run({ body: {}, as: 'key_nobody' }))).to.include({ status: 404 });
    const headers = { authorization: 'Bearer x' };
    expect((await errorIn(await run({ body: {}, headers }))).message).to.include('authorization');
    expect(callsTo(pair.simulator)).to.have.length(0);
  });

  it('says of a request what it lacks, and that it needs a key', async () => {
    for (const [request, message] of [
      [{}, 'body: is required'],
      [{ body: {}, as: null }, 'as: must be a string, not null'],
      [{ body: {}, as: 'x'.repeat(301) }, 'as: must have at most 300 characters'],
      [{ body: {}, post: 'x' }, 'post: must be a path'],
      [{ body: {}, headers: { 'a b': '' } }, 'headers: "a b" must be a header with a text'],
    ] as const)
      expect(await errorIn(await run(request))).to.include({ status: 400, message });
    const document = JSON.stringify(await (await pair.get('/openapi.json')).json());
    expect(document.match(/a caller without a key/g)).to.have.length(2); // of the routes that explain a request
  });

  it('is an entry of the audit log, without a text', async () => {
    const as = await keyId();
    await told({ body: ask('My secret plan'), as });
    const { entries } = await pair.gateway.services.store.audit.page(
      { action: 'playground.run' },
      { limit: 9 },
    );
    expect(entries).to.have.length(1);
    expect(entries[0]).to.deep.include({ target: as, outcome: 'done' });
    expect(JSON.stringify(entries)).to.include('sonnet-5').and.not.include('secret plan');
  });

  it('sends no pass upstream, and no pass is left when it has ended', async () => {
    await told({ body: ask('Hello!') });
    expect(JSON.stringify(callsTo(pair.simulator).map(({ headers }) => headers))).to.not.include('gw-pass');
    const sent = `gw-pass-${'A'.repeat(43)}`;
    const response = await fetch(`${pair.url}/v1/models`, { headers: { 'x-api-key': sent } });
    expect(response.status).to.equal(401);
  });
});

describe('an operator who leaves the playground', () => {
  it('aborts the call of the upstream', async () => {
    const upstream = await startHeldUpstream();
    const under = await startGateway({ slots: [slotAt(upstream.url)] });
    try {
      const leaving = new AbortController();
      const response = await fetch(`${under.url}/api/panel/playground`, {
        method: 'POST',
        headers: { 'x-api-key': masterKey, 'content-type': 'application/json' },
        body: JSON.stringify({ body: ask('Hello!', { stream: true }) }),
        signal: leaving.signal,
      });
      expect(response.status).to.equal(200);
      await eventually(() => under.gateway.exchanges.calls === 1);
      leaving.abort();
      await eventually(() => under.gateway.exchanges.count === 0);
    } finally {
      await under.close();
      await upstream.close();
    }
  });
});
