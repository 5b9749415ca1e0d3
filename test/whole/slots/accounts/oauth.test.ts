import { expect } from 'chai';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ask, configOf, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { callsTo, errorIn, stateOf } from '../../kit.js';
import { TempFolders, writeIn } from '../../temp-folders.js';
import { TokenEndpoint } from './token-endpoint.js';

const startMs = Date.UTC(2026, 0, 1);
const hourMs = 3_600_000;

describe('an OAuth account', () => {
  const folders = new TempFolders();
  let endpoint: TokenEndpoint;
  let simulator: Simulator;
  let under: GatewayUnderTest;
  let folder: string;
  let nowMs: number;

  beforeEach(async () => {
    endpoint = await TokenEndpoint.open();
    simulator = await startSimulator();
    nowMs = startMs;
    folder = await folders.make();
  });
  afterEach(async () => {
    await under.close();
    await simulator.close();
    await endpoint.close();
    await folders.remove();
  });

  interface Settings {
    readonly account?: object;
    readonly slot?: object;
    readonly others?: readonly object[];
  }

  async function write({ account = {}, slot = {}, others = [] }: Settings): Promise<void> {
    const oauth = {
      kind: 'oauth',
      accessToken: 'access-0',
      refreshToken: 'refresh-0',
      tokenUrl: endpoint.url,
      clientId: 'gateway',
      expiresAt: startMs + hourMs,
      ...account,
    };
    const slots = [slotAt(simulator.url, { id: 'plan', account: oauth, ...slot }), ...others];
    // Without the one stage that counts tokens beside the calls.
    await writeIn(folder, 'gateway.yaml', configOf({ slots, pipeline: stages({ without: ['usage-mask'] }) }));
  }

  async function start(settings: Settings = {}): Promise<void> {
    await write(settings);
    under = await startGateway(`${folder}/gateway.yaml`, {}, () => nowMs);
  }

  function say(text = 'Hello!', fields: object = {}): Promise<Response> {
    return under.post('/v1/messages', ask(text, fields));
  }

  /** The tokens that the model calls came with. */
  function tokens(): readonly string[] {
    return callsTo(simulator).map(({ credential }) => credential);
  }

  /** Whatever an operator reads has no token in it. */
  async function hasNoSecret(): Promise<void> {
    const shown = await Promise.all(
      ['/admin/config', '/admin/slots', '/admin/pipeline', '/metrics'].map(async (path) =>
        (await under.get(path)).text(),
      ),
    );
    expect([...shown, JSON.stringify(under.logged)].join('\n')).not.to.match(/(access|refresh)-\d/);
  }

  it('goes out with its token as a bearer, which no refresh comes before while it lasts', async () => {
    await start();
    expect((await say()).status).to.equal(200);
    const [call] = callsTo(simulator);
    expect(call!.headers).to.include({ authorization: 'Bearer access-0' });
    expect(call!.headers).not.to.have.property('x-api-key');
    expect(endpoint.sent).to.deep.equal([]);
    await hasNoSecret();
  });

  it('is refreshed in its last minute, and again when the new token comes to its own', async () => {
    await start();
    nowMs = startMs + hourMs - 60_001;
    await say();
    nowMs = startMs + hourMs - 60_000;
    await say();
    nowMs += hourMs - 60_001;
    await say();
    nowMs += 1;
    await say();
    expect(tokens()).to.deep.equal(['access-0', 'access-1', 'access-1', 'access-2']);
    expect(endpoint.sent).to.deep.equal(['refresh-0', 'refresh-1']);
    await hasNoSecret();
  });

  it('is refreshed once for twenty requests at once', async () => {
    await start({ account: { expiresAt: startMs } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => say()));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 200));
    expect(endpoint.sent).to.deep.equal(['refresh-0']);
    expect(new Set(tokens())).to.deep.equal(new Set(['access-1']));
  });

  it('is refreshed once on a 401, of which the caller sees nothing', async () => {
    simulator.faults.push('401 for=access-0');
    await start({ account: { expiresAt: undefined } });
    const answer = await say('Hello!', { stream: true });
    expect([answer.status, answer.headers.get('x-gw-attempts')]).to.deep.equal([200, '1']);
    expect(await answer.text()).to.include('event: message_stop');
    expect(tokens()).to.deep.equal(['access-0', 'access-1']);
    expect(stateOf(under, 'plan')).to.equal('ready');
  });

  it('is refreshed once on the 401s of twenty requests at once', async () => {
    simulator.faults.push('401 for=access-0');
    await start();
    const answers = await Promise.all(Array.from({ length: 20 }, () => say()));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 200));
    expect(endpoint.sent).to.deep.equal(['refresh-0']);
  });

  it('is refreshed once for the calls of one request', async () => {
    simulator.faults.push('401 for=access-0');
    await start();
    const messages = [{ role: 'user', content: 'Hello!' }];
    const answer = await under.post('/v1/chat/completions', { model: 'sonnet-5', n: 3, messages });
    const { choices } = (await answer.json()) as { choices: readonly object[] };
    expect(choices).to.have.length(3);
    expect(endpoint.sent).to.deep.equal(['refresh-0']);
  });

  it('goes on with the rotated token after a reload, be it to another way of reaching it', async () => {
    await start({ account: { expiresAt: startMs } });
    await say();
    await write({ account: { expiresAt: startMs }, slot: { maxConcurrent: 5, headers: { 'x-extra': '1' } } });
    expect((await under.post('/admin/reload', {})).status).to.equal(200);
    await say();
    nowMs += hourMs;
    await say();
    expect(tokens()).to.deep.equal(['access-1', 'access-1', 'access-2']);
    expect(callsTo(simulator)[1]!.headers).to.include({ 'x-extra': '1' });
    expect(endpoint.sent).to.deep.equal(['refresh-0', 'refresh-1']);
  });

  it('goes on with the rotated token where a reload took the slot away and another gave it back', async () => {
    const key = slotAt(simulator.url, { id: 'key' });
    await start({ account: { expiresAt: startMs }, others: [key] });
    await say();
    await writeIn(folder, 'gateway.yaml', configOf({ slots: [key] }));
    await under.post('/admin/reload', {});
    await write({ account: { expiresAt: startMs } });
    await under.post('/admin/reload', {});
    await say();
    expect(tokens()).to.deep.equal(['access-1', 'access-1']);
    expect(endpoint.sent).to.deep.equal(['refresh-0']);
  });

  it('starts over with the tokens of a reload that has new ones', async () => {
    await start({ account: { expiresAt: startMs } });
    await say();
    await write({
      account: { accessToken: 'access-new', refreshToken: 'refresh-1', expiresAt: nowMs + hourMs },
    });
    await under.post('/admin/reload', {});
    await say();
    nowMs += hourMs;
    await say();
    expect(tokens()).to.deep.equal(['access-1', 'access-new', 'access-2']);
    expect(endpoint.sent).to.deep.equal(['refresh-0', 'refresh-1']);
  });

  it('that is not let in any more is rejected, and said so without a secret', async () => {
    endpoint.answer = {
      status: 400,
      body: { error: 'invalid_grant', error_description: 'refresh-0 is bad' },
    };
    await start({ account: { expiresAt: startMs } });
    const { status, code, message } = await errorIn(await say());
    expect([status, code]).to.deep.equal([503, 'no_slot_available']);
    expect(message).to.equal("The gateway's account at its provider is refused; tell its operator.");
    expect(under.gateway.services.slots.list()[0]!.lastError).to.match(
      /^Slot "plan" cannot renew its access token \(invalid_grant\); sign its account in/,
    );
    expect(stateOf(under, 'plan')).to.equal('rejected');
    await hasNoSecret();
  });

  it('that is refused with its new token as well is rejected', async () => {
    simulator.faults.push('401');
    await start();
    const { status, code } = await errorIn(await say());
    expect([status, code]).to.deep.equal([503, 'no_slot_available']);
    expect(tokens()).to.deep.equal(['access-0', 'access-1']);
    expect(stateOf(under, 'plan')).to.equal('rejected');
  });

  for (const [what, answer] of [
    ['refuses', { status: 401, body: { error: 'invalid_client' } }],
    ['fails', { status: 503, body: 'later' }],
    ['talks nonsense', { status: 200, body: '<html>' }],
  ] as const)
    it(`leaves its requests to another slot where the token endpoint ${what}`, async () => {
      endpoint.answer = answer;
      await start({ account: { expiresAt: startMs }, others: [slotAt(simulator.url, { id: 'key' })] });
      const answered = await say('Hello!', { stream: true });
      expect(answered.headers.get('x-gw-slot')).to.equal('key');
      expect(answered.headers.get('x-gw-attempts')).to.equal('2');
      expect(await answered.text()).to.include('event: message_stop');
      await hasNoSecret();
    });

  it('that cannot be refreshed for now is tried again later', async () => {
    endpoint.answer = { status: 503, body: 'later' };
    await start({ account: { expiresAt: startMs } });
    const { status, code } = await errorIn(await say());
    expect([status, code]).to.deep.equal([502, 'upstream_unreachable']);
    endpoint.answer = undefined;
    nowMs += 60_000;
    expect((await say()).status).to.equal(200);
    expect(tokens()).to.deep.equal(['access-1']);
  });

  it('asks nobody for its windows, and its upstream for no count', async () => {
    simulator.faults.push('windows 5h=0.25 7d=0.5');
    await start();
    await say();
    const windows = {
      object: 'usage',
      unit: 'percent_used',
      account: 'plan',
      '5h': { percent_used: 25 },
      '7d': { percent_used: 50 },
    };
    for (const answer of [
      await under.get('/v1/usage'),
      await under.post('/v1/messages/count_tokens', ask('Hi')),
    ]) {
      const body = (await answer.json()) as typeof windows;
      expect({
        ...body,
        '5h': { percent_used: body['5h'].percent_used },
        '7d': { percent_used: body['7d'].percent_used },
      }).to.deep.equal(windows);
    }
    expect([simulator.requests.length, endpoint.sent]).to.deep.equal([1, []]);
  });
});
