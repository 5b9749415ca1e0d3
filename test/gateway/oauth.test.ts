import { expect } from 'chai';
import { ask, slotAt, startPair, type GatewayUnderTest, type Pair } from './harness.js';
import { callsTo, errorIn, stateOf } from './kit.js';
import { scripted, type ScriptedUpstream } from './scripted-upstream.js';

interface Grant {
  readonly status?: number;
  readonly body: object;
}

describe('an OAuth account', () => {
  let tokens: ScriptedUpstream;
  let pair: Pair;
  let nowMs: number;
  /** What the token endpoint was sent, and what it answers. */
  let asked: URLSearchParams[];
  let grant: Grant;

  beforeEach(async () => {
    nowMs = Date.UTC(2026, 0, 1);
    asked = [];
    grant = { body: { access_token: 'token-2', refresh_token: 'refresh-2', expires_in: 3600 } };
    tokens = await scripted(async (request, response, _, body) => {
      expect(request.headers['content-type']).to.equal('application/x-www-form-urlencoded');
      asked.push(new URLSearchParams(body));
      await new Promise((resolve) => setImmediate(resolve));
      response.writeHead(grant.status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(grant.body));
    });
  });
  afterEach(async () => {
    await pair.close();
    await tokens.close();
  });

  async function start(settings: object = {}, further: (url: string) => readonly object[] = () => []) {
    const account = {
      kind: 'oauth',
      accessToken: 'token-1',
      refreshToken: 'refresh-1',
      tokenUrl: `${tokens.url}/token`,
      clientId: 'gw',
      ...settings,
    };
    pair = await startPair({}, { now: () => nowMs }, (url) => [slotAt(url, { account }), ...further(url)]);
  }

  const credentials = () => callsTo(pair.simulator).map(({ headers }) => headers['authorization']);
  const post = (under: GatewayUnderTest = pair) => under.post('/v1/messages', ask('Hello!'));

  it('is named by its token, and by no key', async () => {
    await start();
    expect(await post()).to.have.property('status', 200);
    const [call] = callsTo(pair.simulator);
    expect(call!.headers).to.include({ authorization: 'Bearer token-1' }).and.not.have.property('x-api-key');
    expect(asked).to.deep.equal([]);
  });

  it('is refreshed before its token expires', async () => {
    await start({ expiresAt: nowMs + 3_600_000 });
    await post();
    nowMs += 3_600_000 - 59_000;
    await post();
    await post();
    expect(credentials()).to.deep.equal(['Bearer token-1', 'Bearer token-2', 'Bearer token-2']);
    expect(asked.map((form) => Object.fromEntries(form))).to.deep.equal([
      { grant_type: 'refresh_token', refresh_token: 'refresh-1', client_id: 'gw' },
    ]);
  });

  it('is refreshed once however many requests wait for it', async () => {
    await start({ expiresAt: nowMs - 1 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => post()));
    for (const { status } of answers) expect(status).to.equal(200);
    expect(asked).to.have.length(1);
    expect(new Set(credentials())).to.deep.equal(new Set(['Bearer token-2']));
  });

  it('is refreshed once on a 401 and tried once more, which its caller does not see', async () => {
    await start();
    pair.simulator.faults.push('401 for=token-1');
    const response = await post();
    expect(response.status).to.equal(200);
    expect(response.headers.get('x-gw-attempts')).to.equal('1');
    expect(credentials()).to.deep.equal(['Bearer token-1', 'Bearer token-2']);
    expect(asked).to.have.length(1);
    expect(stateOf(pair, 'a')).to.equal('ready');
  });

  it('that is refused with a fresh token too is rejected, and another slot answers', async () => {
    await start({}, (url) => [slotAt(url, { id: 'b' })]);
    pair.simulator.faults.push('401 for=token-1', '401 for=token-2');
    pair.gateway.slots.pause('b');
    expect(await errorIn(await post())).to.include({ status: 401, type: 'authentication_error' });
    expect(stateOf(pair, 'a')).to.equal('rejected');
    pair.gateway.slots.resume('b');
    expect((await post()).headers.get('x-gw-slot')).to.equal('b');
  });

  it('whose refresh token is refused is rejected, says what to do, and shows no token', async () => {
    await start({ expiresAt: nowMs - 1 });
    grant = { status: 400, body: { error: 'invalid_grant' } };
    const error = await errorIn(await post());
    expect(error).to.include({ status: 503, code: 'no_slot_available' });
    expect(stateOf(pair, 'a')).to.equal('rejected');
    expect(JSON.stringify([error, pair.logged])).not.to.match(/token-1|refresh-1/);
    expect(callsTo(pair.simulator)).to.deep.equal([]);
  });

  it('goes on with its old token where the endpoint fails before that has expired', async () => {
    await start({ expiresAt: nowMs + 30_000 });
    grant = { status: 500, body: {} };
    expect(await post()).to.have.property('status', 200);
    expect(credentials()).to.deep.equal(['Bearer token-1']);
  });

  it('refreshes by the token that it was given last', async () => {
    await start({ expiresAt: nowMs - 1 });
    await post();
    grant = { body: { access_token: 'token-3', expires_in: 3600 } };
    nowMs += 3_600_000;
    await post();
    nowMs += 3_600_000;
    await post();
    expect(asked.map((form) => form.get('refresh_token'))).to.deep.equal([
      'refresh-1',
      'refresh-2',
      'refresh-2',
    ]);
  });

  it('keeps its rotated token through a reload', async () => {
    await start({ expiresAt: nowMs - 1 });
    await post();
    expect((await pair.post('/admin/reload', {})).status).to.equal(200);
    await post();
    expect(asked).to.have.length(1);
    expect(credentials()).to.deep.equal(['Bearer token-2', 'Bearer token-2']);
  });

  it('lets a caller leave while it is refreshed', async () => {
    await start({ expiresAt: nowMs - 1 });
    const leave = new AbortController();
    const left = fetch(`${pair.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'test-master-key', 'content-type': 'application/json' },
      body: JSON.stringify(ask('Hello!')),
      signal: leave.signal,
    }).catch(() => 'left');
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    leave.abort();
    expect(await left).to.equal('left');
    await pair.gateway.exchanges.idle();
    expect(await post()).to.have.property('status', 200);
    expect(asked).to.have.length(1);
  });
});
