import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { ask, masterKey, startGateway, startPair, type Pair } from '../../harness.js';
import { eventually } from '../../../eventually.js';
import { callsTo, errorIn, issueKey, raw } from '../../kit.js';
import { RawClient, head } from '../../raw-client.js';

describe('auth', () => {
  let pair: Pair;
  let protocolKey: string;
  before(async () => {
    pair = await startPair();
    protocolKey = await issueKey(pair, 'ci');
  });
  after(() => pair.close());

  const keyed: readonly (readonly [method: string, path: string])[] = [
    ['POST', '/v1/messages'],
    ['POST', '/v1/chat/completions'],
    ['POST', '/v1/responses'],
    ['POST', '/v1/completions'],
    ['POST', '/v1/messages/count_tokens'],
    ['GET', '/v1/models'],
    ['GET', '/v1/models/sonnet-5'],
    ['GET', '/v1/usage'],
    ['GET', '/v1/responses/resp_1'],
    ['DELETE', '/v1/responses/resp_1'],
    ['GET', '/metrics'],
    ['GET', '/api/panel'],
    ['GET', '/api/panel/keys'],
    ['POST', '/api/panel/keys'],
    ['GET', '/admin/slots'],
    ['POST', '/admin/slots/a/pause'],
    ['POST', '/admin/slots/a/resume'],
    ['POST', '/admin/slots/a/drain'],
    ['POST', '/admin/slots/a/diagnose'],
    ['POST', '/admin/reload'],
    ['GET', '/admin/pipeline'],
    ['GET', '/admin/config'],
    ['GET', '/admin/nothing'],
    ['DELETE', '/admin/slots'],
    ['GET', '/admin'],
  ];
  for (const [method, path] of keyed) {
    it(`refuses ${method} ${path} without a key, and with one that nobody issued`, async () => {
      const none = await errorIn(await fetch(pair.url + path, { method }));
      expect(none).to.include({ status: 401, type: 'authentication_error', code: 'missing_api_key' });
      const headers = { authorization: 'Bearer sk-gw-made-up' };
      const unknown = await errorIn(await fetch(pair.url + path, { method, headers }));
      expect(unknown).to.include({ status: 401, type: 'authentication_error', code: 'invalid_api_key' });
    });
  }

  for (const path of ['/health', '/', '/v1/meta', '/meta']) {
    it(`lets everyone see ${path}`, async () => {
      expect(await fetch(pair.url + path)).to.have.property('status', 200);
      const wrong = { headers: { 'x-api-key': 'made up' } };
      expect(await fetch(pair.url + path, wrong)).to.have.property('status', 200);
    });
  }

  for (const [method, path] of keyed.filter(([, path]) => /^\/(admin|api|metrics)/.test(path))) {
    it(`forbids ${method} ${path} to a protocol key`, async () => {
      const response = await fetch(pair.url + path, { method, headers: { 'x-api-key': protocolKey } });
      expect(await errorIn(response)).to.include({
        status: 403,
        type: 'permission_error',
        code: 'forbidden',
      });
    });
  }

  it('lets the master key call the API, the panel and the administration', async () => {
    const statuses = await Promise.all(
      ['/v1/models', '/models', '/metrics', '/admin/slots', '/api/panel/keys', '/admin/nothing'].map(
        async (path) => (await pair.get(path)).status,
      ),
    );
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 404]);
  });

  it('takes a key in either header, whatever the case of the scheme', async () => {
    for (const headers of [
      { 'x-api-key': protocolKey },
      { authorization: `Bearer ${protocolKey}` },
      { authorization: `bearer  ${protocolKey} ` },
      { 'X-API-KEY': masterKey },
    ])
      expect(await fetch(`${pair.url}/v1/models`, { headers })).to.have.property('status', 200);
  });

  it('goes by x-api-key where both headers are sent', async () => {
    const both = (xApiKey: string, bearer: string) => ({
      'x-api-key': xApiKey,
      authorization: `Bearer ${bearer}`,
    });
    expect(await pair.get('/v1/models', both(protocolKey, 'nobody'))).to.have.property('status', 200);
    const refused = await errorIn(await pair.get('/v1/models', both('nobody', protocolKey)));
    expect(refused).to.include({ status: 401, code: 'invalid_api_key' });
    const forbidden = await errorIn(await pair.get('/admin/slots', both(protocolKey, masterKey)));
    expect(forbidden).to.include({ status: 403, code: 'forbidden' });
  });

  it('goes by the other header where one is empty', async () => {
    const headers = { 'x-api-key': '', authorization: `Bearer ${masterKey}` };
    expect(await pair.get('/v1/models', headers)).to.have.property('status', 200);
    expect(await pair.get('/admin/slots', headers)).to.have.property('status', 200);
  });

  it('takes credentials of another scheme for none', async () => {
    const headers = { authorization: 'Basic dXNlcjpwYXNz' };
    const error = await errorIn(await pair.get('/v1/models', headers));
    expect(error).to.include({ status: 401, code: 'missing_api_key' });
  });

  it('refuses keys that have expired or were revoked', async () => {
    const expired = await issueKey(pair, 'expired', { expiresAtMs: Date.now() - 1 });
    const revoked = await issueKey(pair, 'revoked', { revokedAtMs: 1 });
    for (const key of [expired, revoked])
      expect(await errorIn(await pair.get('/v1/models', { 'x-api-key': key }))).to.include({
        status: 401,
        code: 'invalid_api_key',
      });
  });

  it('keeps a key to the models that it was issued for', async () => {
    const headers = { 'x-api-key': await issueKey(pair, 'haiku', { models: ['haiku-*'] }) };
    const taken = await pair.post('/v1/messages', ask('Hello!', { model: 'haiku' }), headers);
    expect(taken.status).to.equal(200);
    const refused = await pair.post('/v1/messages', ask('Hello!'), headers);
    expect(await errorIn(refused)).to.include({ status: 403, type: 'permission_error', code: 'forbidden' });
  });

  it('comes before all that could be wrong with the request', async () => {
    const calls = callsTo(pair.simulator).length;
    for (const headers of [
      {},
      { 'content-type': 'text/plain' },
      { 'content-type': 'application/json' },
      { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      { 'content-type': 'application/json', 'x-gw-delivery': 'nonsense' },
    ] as Readonly<Record<string, string>>[]) {
      const { status, text } = await raw(`${pair.url}/v1/messages`, {
        method: 'POST',
        headers,
        pieces: ['{'],
      });
      expect(status).to.equal(401);
      expect(text).to.include('missing_api_key');
    }
    const tooLong = { 'content-type': 'application/json', 'content-length': String(200 * 1024 * 1024) };
    const sent = request(`${pair.url}/v1/messages`, { method: 'POST', headers: tooLong });
    sent.on('error', () => undefined).flushHeaders();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    sent.destroy();
    expect(response.statusCode).to.equal(401);
    expect(callsTo(pair.simulator)).to.have.length(calls);
  });

  it('lets nobody administrate a gateway that has no master key', async () => {
    const { createGateway } = await import('@gw2api/gateway');
    const slots = [{ id: 'a', upstream: 'simulator' }];
    const listen = { host: '127.0.0.1', port: 0 };
    const gateway = await createGateway(
      { listen, slots, pipeline: [{ use: 'auth' }, ...rest] },
      { logLevel: 'silent' },
    );
    const url = await gateway.listen();
    const response = await fetch(`${url}/admin/slots`, {
      headers: { 'x-api-key': '', authorization: 'Bearer ' },
    });
    expect(response.status).to.equal(401);
    await gateway.close();
  });

  const rest = ['body-limit', 'format-decode', 'slot-pick', 'upstream-call', 'format-encode'].map((use) => ({
    use,
  }));

  it('is a stage like any other: without it nobody is known, and the order check says so', async () => {
    const error = await startGateway({ pipeline: rest, slots: [{ id: 'a', upstream: 'simulator' }] }).then(
      () => '',
      (thrown: unknown) => String(thrown),
    );
    expect(error).to.include('needs "caller"').and.include('- use: auth');
  });
});

describe('an address that tries out keys', () => {
  let pair: Pair;
  beforeEach(
    async () => void (pair = await startPair({ listen: { host: '127.0.0.1', port: 0, trustProxy: true } })),
  );
  afterEach(() => pair.close());

  const from = (address: string, key: string) => ({ 'x-forwarded-for': address, 'x-api-key': key });
  const guess = (address = '192.0.2.1', path = '/v1/models') =>
    pair.get(path, from(address, 'sk-gw-guessed'));
  const guesses = async (times: number) => {
    for (let nth = 0; nth < times; nth += 1) expect(await guess()).to.have.property('status', 401);
  };
  /** How many answers wait. */
  const waiting = () => pair.gateway.wrongKeys.fill.entries;

  it('waits a second for each 401 after the first twenty, wherever it asks', async () => {
    await guesses(20);
    for (const path of ['/v1/models', '/admin/slots', '/metrics', '/api/panel/keys']) {
      const beganMs = performance.now();
      const error = await errorIn(await guess('192.0.2.1', path));
      expect(performance.now() - beganMs).to.be.at.least(999);
      expect(error).to.include({ status: 401, code: 'invalid_api_key' });
    }
  });

  it('is not delayed with a right key, and others are not with any', async () => {
    await guesses(21);
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, waiting())), 1);
    for (let nth = 0; nth < 10; nth += 1) {
      expect(await pair.get('/v1/models', from('192.0.2.1', masterKey))).to.have.property('status', 200);
      expect(await guess('192.0.2.2')).to.have.property('status', 401);
    }
    clearInterval(watch);
    expect(peak).to.equal(0);
  });

  it('has ten answers wait at most: further keys get 429 at once, but for those that were good', async () => {
    const { store } = pair.gateway.services;
    const { key: secret } = (await (await pair.post('/api/panel/keys', { name: 'own' })).json()) as {
      key: string;
    };
    const jwt = 'eyJhbGciOiJub25lIn0.e30.x';
    expect(await pair.get('/v1/models', from('192.0.2.1', secret))).to.have.property('status', 200);
    await guesses(20);
    const held = Array.from({ length: 10 }, () => guess());
    await eventually(() => waiting() === 10);
    const asked: string[] = [];
    const findByHash = store.keys.findByHash.bind(store.keys);
    store.keys.findByHash = (hash) => (asked.push(hash), findByHash(hash));
    for (const key of ['sk-gw-another', 'another', 'gw-adm-another', jwt]) {
      const answer = await pair.get('/v1/models', from('192.0.2.1', key));
      expect(answer.headers.get('retry-after'), key).to.equal('1');
      expect(await errorIn(answer), key).to.include({ status: 429, code: 'rate_limited' });
    }
    expect(asked).to.deep.equal([]);
    for (const key of [secret, masterKey])
      expect(await pair.get('/v1/models', from('192.0.2.1', key))).to.have.property('status', 200);
    expect(await guess('192.0.2.2')).to.have.property('status', 401);
    expect(waiting()).to.equal(10);
    for (const answer of held) expect(await answer).to.have.property('status', 401);
    expect(await guess()).to.have.property('status', 401);
  });

  it('shares the hundred answers that wait with others', async () => {
    const addresses = Array.from({ length: 12 }, (_, nth) => `198.51.100.${nth}`);
    const every = (times: number) =>
      addresses.flatMap((address) => Array.from({ length: times }, () => guess(address)));
    await Promise.all(every(20));
    let peak = 0;
    const answers = every(10).map(async (answer) => {
      expect(await answer).to.have.property('status', 401);
      peak = Math.max(peak, waiting());
    });
    await Promise.all(answers);
    expect(peak).to.be.within(50, 100);
    expect(waiting()).to.equal(0);
  });

  it('that leaves keeps no answer waiting', async () => {
    await guesses(20);
    const client = await RawClient.open(pair.url);
    client.send(`${head('GET /v1/models', from('192.0.2.1', 'wrong'))}\r\n`);
    await eventually(() => waiting() === 1);
    client.close();
    await pair.gateway.exchanges.idle();
    await eventually(() => waiting() === 0);
  });
});
