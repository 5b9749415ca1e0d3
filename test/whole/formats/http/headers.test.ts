import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { expect } from 'chai';
import { ask, masterKey, slotAt, startPair, type Pair } from '../../harness.js';
import { callsTo, errorIn, raw, requestLines } from '../../kit.js';

describe('headers', () => {
  let pair: Pair;
  before(async () => {
    const settings = { headers: { 'X-Team': 'a', 'anthropic-beta': 'operator-beta' } };
    pair = await startPair({}, {}, (url) => [
      slotAt(url),
      slotAt(url, { id: 'own', models: ['haiku-5'], ...settings }),
    ]);
  });
  after(() => pair.close());

  /** The headers that the upstream sees. */
  async function upstreamHeaders(headers: Readonly<Record<string, string>>, fields: object = {}) {
    const response = await pair.post('/v1/messages', ask('Hello!', fields), headers);
    expect(response.status).to.equal(200);
    return callsTo(pair.simulator).at(-1)!.headers;
  }

  describe('to the upstream', () => {
    it('are those of the Messages API and of the slot, and nothing else of the caller', async () => {
      const seen = await upstreamHeaders({
        'x-api-key': masterKey,
        authorization: `Bearer ${masterKey}`,
        cookie: 'session=1',
        'x-forwarded-for': '10.0.0.1',
        'user-agent': 'somebody/1.0',
        'accept-language': 'de',
        'x-request-id': 'caller-request',
        'x-session-id': 'session-1',
        'x-stainless-lang': 'js',
        'x-gw-delivery': 'verified',
        'x-gw-cache-ttl': '5m',
        'x-gw-web-search': 'false',
        'x-gw-anything': '1',
        'proxy-authorization': 'Basic xyz',
        te: 'trailers',
      });
      const names = Object.keys(seen).filter(
        (name) => !['host', 'connection', 'content-length'].includes(name),
      );
      expect(names.toSorted()).to.deep.equal([
        'accept',
        'accept-encoding',
        'anthropic-version',
        'content-type',
        'user-agent',
        'x-api-key',
      ]);
      expect(seen['x-api-key']).to.equal('upstream-key-a');
      expect(seen['user-agent']).to.match(/^gw2api\//);
      expect(seen['host']).to.equal(new URL(pair.simulator.url).host);
      expect(JSON.stringify(seen)).not.to.include(masterKey);
    });

    it('have an anthropic-version where the caller has none', async () => {
      expect(await upstreamHeaders({})).to.include({ 'anthropic-version': '2023-06-01' });
      expect(await upstreamHeaders({ 'anthropic-version': '2026-10-21' })).to.include({
        'anthropic-version': '2026-10-21',
      });
    });

    it('have all anthropic-* of the caller, unchanged', async () => {
      const sent = {
        'anthropic-beta': 'a-2026-01-01,b',
        'anthropic-dangerous-direct-browser-access': 'true',
      };
      expect(await upstreamHeaders(sent)).to.include(sent);
    });

    it('have those of the slot, which win over the caller', async () => {
      const seen = await upstreamHeaders({ 'anthropic-beta': 'caller-beta' }, { model: 'haiku-5' });
      const slot = seen['x-team'];
      if (slot !== undefined) expect(seen).to.include({ 'x-team': 'a', 'anthropic-beta': 'operator-beta' });
      pair.gateway.services.slots.pause('a');
      const own = await upstreamHeaders({ 'anthropic-beta': 'caller-beta' }, { model: 'haiku-5' });
      pair.gateway.services.slots.resume('a');
      expect(own).to.include({ 'x-team': 'a', 'anthropic-beta': 'operator-beta' });
    });

    it('are none of the hop-by-hop kind, whatever the caller names in connection', async () => {
      const headers = {
        'x-api-key': masterKey,
        'content-type': 'application/json',
        connection: 'x-hop',
        'x-hop': '1',
        upgrade: 'h2c',
        trailer: 'x-end',
      };
      const pieces = [JSON.stringify(ask('Hello!'))];
      const { status } = await raw(`${pair.url}/v1/messages`, { method: 'POST', headers, pieces });
      expect(status).to.equal(200);
      const seen = callsTo(pair.simulator).at(-1)!.headers;
      for (const name of ['x-hop', 'upgrade', 'trailer', 'transfer-encoding', 'te', 'keep-alive'])
        expect(seen).not.to.have.property(name);
    });
  });

  describe('of an answer', () => {
    for (const stream of [true, false]) {
      it(`name slot, attempts, and what the upstream says of its limits (stream: ${stream})`, async () => {
        const response = await pair.post('/v1/messages', ask('[[sim:windows 5h=0.5]]', { stream }));
        await response.text();
        const headers = Object.fromEntries(response.headers);
        expect(headers).to.include({
          'x-gw-slot': 'a',
          'x-gw-attempts': '1',
          'anthropic-ratelimit-requests-limit': '4000',
          'anthropic-ratelimit-unified-5h-utilization': '0.5',
        });
        expect(headers['request-id']).to.match(/^req_/);
        for (const foreign of ['anthropic-organization-id', 'x-powered-by', 'server', 'set-cookie'])
          expect(headers).not.to.have.property(foreign);
      });
    }
  });

  describe('x-request-id', () => {
    const made = /^req_[0-9a-f]{32}$/;

    it('is echoed, on answers of every kind', async () => {
      const id = 'Caller id: 7/ä'.replace('ä', 'a');
      const headers = { 'x-request-id': id };
      const answers = await Promise.all([
        pair.get('/health', headers),
        pair.get('/v1/models', headers),
        pair.get('/nothing', headers),
        fetch(`${pair.url}/v1/models`, { headers }),
        pair.post('/v1/messages', ask('Hello!'), headers),
        pair.post('/v1/messages', ask('Hello!', { stream: true }), headers),
        pair.post('/v1/messages', ask('[[sim:400]]'), headers),
      ]);
      for (const answer of answers) expect(answer.headers.get('x-request-id')).to.equal(id);
    });

    it('is made where the caller sends none', async () => {
      const ids = await Promise.all(
        [1, 2].map(async () => (await pair.get('/health')).headers.get('x-request-id')),
      );
      for (const id of ids) expect(id).to.match(made);
      expect(ids[0]).not.to.equal(ids[1]);
    });

    for (const [what, id] of [
      ['longer than 200 characters', 'x'.repeat(201)],
      ['not printable', 'a\tb'],
      ['not ASCII', 'id-\u00e4'],
      ['empty', ''],
    ] as const) {
      it(`is made where the caller's is ${what}`, async () => {
        const sent = request(`${pair.url}/health`, { headers: { 'x-request-id': id } }).end();
        const [response] = (await once(sent, 'response')) as [IncomingMessage];
        response.resume();
        expect(response.headers['x-request-id']).to.match(made);
      });
    }

    it('of 200 characters is echoed', async () => {
      const id = 'x'.repeat(200);
      const response = await pair.get('/health', { 'x-request-id': id });
      expect(response.headers.get('x-request-id')).to.equal(id);
    });

    it('stands in the log line, and one of a caller in no answer to another', async () => {
      await Promise.all(
        ['one', 'two'].map((id) => pair.post('/v1/messages', ask('Hello!'), { 'x-request-id': id })),
      );
      const lines = (await requestLines(pair)).filter(({ path }) => path === '/v1/messages');
      expect(lines.map(({ id }) => id)).to.include.members(['one', 'two']);
    });
  });

  for (const [name, value] of [
    ['x-gw-delivery', 'quick'],
    ['x-gw-cache-ttl', '1d'],
    ['x-gw-web-search', 'maybe'],
  ] as const) {
    it(`${name} that says something else is 400 and names it`, async () => {
      const calls = callsTo(pair.simulator).length;
      const response = await pair.post('/v1/messages', ask('Hello!'), { [name]: value });
      const { status, code, message } = await errorIn(response);
      expect({ status, code }).to.deep.equal({ status: 400, code: 'invalid_request' });
      expect(message).to.match(new RegExp(`^${name}: `));
      expect(callsTo(pair.simulator)).to.have.length(calls);
    });
  }
});
