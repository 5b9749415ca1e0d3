import { expect } from 'chai';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { ProcessWorkshop, type Ended } from '../../gateway-process.js';
import { configOf, slotAt, stages } from '../../harness.js';
import { scripted } from '../../scripted-upstream.js';

describe('check --online', () => {
  const workshop = new ProcessWorkshop();
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator({ models: { 'claude-new-7-20260101': {} } });
  });
  afterEach(async () => {
    await workshop.end();
    await simulator.close();
  });

  async function check(slots: readonly object[], models: readonly object[]): Promise<Ended> {
    const config = configOf({ slots, models: 'm.json', store: 'sqlite:./gateway.db' });
    const cwd = await workshop.folder({ 'config/gateway.yaml': config, 'config/m.json': { models } });
    return workshop.run({ cwd, args: ['check', '--online'] });
  }

  it('asks each slot for its models, and names those of the catalog that none knows', async () => {
    const { code, stdout, stderr } = await check(
      [slotAt(simulator.url), slotAt(simulator.url, { id: 'b', models: ['sonnet-5'] })],
      [
        { id: 'sonnet-5' },
        { id: 'new-7' },
        { id: 'dated', upstreamModel: 'claude-new-7-20260101' },
        { id: 'undated', upstreamModel: 'claude-new-7' },
        { id: 'sonet-5' },
      ],
    );
    expect(stderr).to.equal('');
    expect(stdout).to.match(
      /\nonline\n {2}a {2}127\.0\.0\.1 {2}7 models\n {2}b {2}127\.0\.0\.1 {2}7 models\n/,
    );
    expect(stdout).to.include(
      'models unknown to all slots\n' +
        '  new-7: no slot has "new-7"; did you mean "claude-new-7-20260101" as its upstreamModel?\n' +
        '  sonet-5: no slot has "sonet-5"; did you mean "sonnet-5" as its upstreamModel?\n',
    );
    expect(stdout).to.not.match(/\b(dated|undated): no slot/);
    expect(code).to.equal(1);
  });

  it('shows what a slot with `models: discover` serves', async () => {
    const account = { kind: 'bearer', token: 'token' };
    const { code, stdout } = await check(
      [
        slotAt(simulator.url, { models: 'discover', filter: ['claude-*'] }),
        {
          id: 'b',
          upstream: 'vertex',
          with: { project: 'p' },
          account,
          baseUrl: simulator.url,
          models: 'discover',
        },
      ],
      [{ id: 'sonnet-5', upstreamModel: 'claude-sonnet-5' }, { id: 'new-7' }, { id: 'gpt-9' }],
    );
    expect(stdout).to.include('discover claude-*');
    expect(stdout).to.match(
      /\n {2}a {2}127\.0\.0\.1 {2}7 models\n {4}serves claude-sonnet-5, [^\n]*claude-new-7-20260101\n/,
    );
    expect(stdout).to.match(/\n {4}serves claude-haiku-5-5, [^\n]*claude-sonnet-4-5@20250929\n/);
    expect(stdout).to.include('models unknown to all slots\n  gpt-9: no slot serves it\n');
    expect(code).to.equal(1);
  });

  it('exits with 0 where all is well, and says nothing of models that a slot could not list', async () => {
    const none = await startSimulator({ hasModelList: false });
    const { code, stdout } = await check(
      [
        slotAt(simulator.url, { models: ['sonnet-*'] }),
        slotAt(none.url, { id: 'b' }),
        { id: 'c', upstream: 'simulator' },
      ],
      [{ id: 'sonnet-5' }, { id: 'unheard-of' }],
    );
    await none.close();
    expect(stdout).to.include('  b  127.0.0.1  has no list of models\n  c  answers without a network\n');
    expect([code, stdout.includes('that no slot knows')]).to.deep.equal([0, false]);
  });

  it('tells of a slot that fails, and no secret, whatever it answers', async () => {
    simulator.faults.push('401 message="key upstream-key-a by proxy-pass"');
    const closed = await startSimulator();
    const { url } = closed;
    await closed.close();
    const { code, stdout, stderr } = await check(
      [slotAt(simulator.url, { headers: { 'x-extra': 'proxy-pass' } }), slotAt(url, { id: 'b' })],
      [{ id: 'sonnet-5' }],
    );
    expect(stdout).to.include('  a  127.0.0.1  FAILED: key *** by ***\n');
    expect(stdout).to.include(
      '  b  127.0.0.1  FAILED: Slot "b" could not reach its upstream (ECONNREFUSED).\n',
    );
    expect(stdout + stderr).to.not.match(/upstream-key-a|proxy-pass/);
    expect(code).to.equal(1);
  });

  it('tells no option of a slot, however deep it is', async () => {
    const leaky = `export default {
      name: 'leaky',
      options: { type: 'object', properties: { auth: { type: 'object', additionalProperties: true } } },
      open: ({ auth }) => ({ generate() {}, models() { throw new Error('refused ' + auth.keys[0].secret); } }),
    };`;
    const slot = {
      id: 'a',
      upstream: './leaky.mjs',
      baseUrl: simulator.url,
      with: { auth: { keys: [{ secret: 'deep-secret' }] } },
    };
    const cwd = await workshop.folder({
      'config/gateway.yaml': configOf({ slots: [slot] }),
      'config/leaky.mjs': leaky,
    });
    const { stdout } = await workshop.run({ cwd, args: ['check', '--online'] });
    expect(stdout).to.include('  a  127.0.0.1  FAILED: refused ***\n');
  });

  it('uses no token of an OAuth account, and asks no model anything', async () => {
    const account = {
      kind: 'oauth',
      accessToken: 'access',
      refreshToken: 'refresh',
      tokenUrl: `${simulator.url}/token`,
      clientId: 'c',
      expiresAt: '2020-01-01T00:00:00Z',
    };
    const { code, stdout } = await check([slotAt(simulator.url, { account })], [{ id: 'sonnet-5' }]);
    expect(stdout).to.include('  a  127.0.0.1  not asked: its tokens are in the store\n');
    expect([code, simulator.requests.length]).to.deep.equal([0, 0]);
  });

  it('asks nothing without --online, which goes with check, doctor and init alone', async () => {
    const cwd = await workshop.folder({
      'config/gateway.yaml': configOf({ slots: [slotAt(simulator.url)] }),
    });
    expect(await workshop.run({ cwd, args: ['check'] })).to.include({ code: 0 });
    expect(simulator.requests).to.deep.equal([]);
    const { code, stderr } = await workshop.run({ cwd, args: ['--online'] });
    expect([code, stderr]).to.deep.equal([2, '--online goes with check, doctor and init; see --help.\n']);
  });

  it('has the credential of a slot checked that has no list of models', async () => {
    const upstream = `export default { name: 'up', needs: ['baseUrl'], open: (_, { http }) => ({
      generate: () => undefined,
      diagnose: (query) => http.diagnose(query, { path: '/v1/models', headers: { 'anthropic-version': '2023-06-01' } }),
    }) };`;
    const strict = await scripted(({ headers }, response) => {
      response.writeHead(headers['x-api-key'] === 'good-key' ? 200 : 401).end('{}');
    });
    const slot = (id: string, key: string) => ({
      id,
      upstream: './up.mjs',
      baseUrl: strict.url,
      account: { kind: 'api-key', key },
    });
    const slots = [slot('a', 'good-key'), slot('b', 'bad-key')];
    const files = { 'config/gateway.yaml': configOf({ slots, store: 'memory' }), 'config/up.mjs': upstream };
    const cwd = await workshop.folder(files);
    const { code, stdout } = await workshop.run({ cwd, args: ['check', '--online'] });
    await strict.close();
    expect(stdout).to.include('  a  127.0.0.1  has no list of models; its credential is accepted\n');
    expect(stdout).to.match(/ {2}b {2}127\.0\.0\.1 {2}FAILED: credential: refused with status 401/);
    expect(code).to.equal(1);
  });

  it('runs the probes of stages, upstreams and accounts, and names each with its place', async () => {
    const files = {
      'stage.mjs': `export default { name: 'asks', options: { type: 'object', properties: { pin: { type: 'string', secret: true } } },
        setup: ({ pin }) => ({
          start() { throw new Error('must not start'); },
          async probe() { throw new Error('no answer for ' + pin + '\\nat all'); },
        }) };`,
      'sound.mjs': `export default { name: 'sound', setup: () => ({ probe: () => undefined }) };`,
      'upstream.mjs': `export default { name: 'up', open: () => ({
        start() { throw new Error('must not start'); },
        generate: () => undefined,
        async probe({ authorize }) { await authorize({ method: 'GET', origin: '', path: '/', headers: {} }); },
      }) };`,
      'account.mjs': `export default { name: 'own', options: { type: 'object', properties: { pin: { type: 'string' } } },
        open: ({ pin }) => ({
          start() { throw new Error('must not start'); },
          authorize: () => ({ 'x-pin': pin }),
          probe() { throw new Error('refused ' + pin); },
        }) };`,
    };
    const slot = {
      id: 'a',
      upstream: './upstream.mjs',
      account: { kind: './account.mjs', pin: 'slot-pin-1' },
    };
    const extra = [{ use: './sound.mjs' }, { use: './stage.mjs', with: { pin: 'stage-pin-2' } }];
    const config = configOf({ slots: [slot], store: 'memory', pipeline: [...extra, ...stages()] });
    const cwd = await workshop.folder({ 'gateway.yaml': config, ...files });
    const { code, stdout, stderr } = await workshop.run({
      cwd,
      args: ['check', '--online', '--config', 'gateway.yaml'],
    });
    expect(stderr).to.equal('');
    expect(stdout).to.include(
      [
        '\nprobes',
        '  pipeline[0] "sound"  ok',
        '  pipeline[1] "asks"  FAILED: no answer for *** at all',
        '  slots[0].account "./account.mjs"  FAILED: refused ***',
        '  slots[0].upstream "./upstream.mjs"  ok\n',
      ].join('\n'),
    );
    expect(code).to.equal(1);
  });
});
