import path from 'node:path';
import { expect } from 'chai';
import { testConfig } from '#src/features/tests/before-reload.js';
import { configOf, masterKey, slotAt, stages } from './harness.js';
import { ProcessWorkshop, type GatewayProcess } from './gateway-process.js';
import { TempFolders, writeIn } from './temp-folders.js';

/** A test that holds for a persona with this text. */
function testOf(text: string): object {
  const body = { model: 'sonnet-5', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
  const expect = { status: 200, upstream: { 'system.0.text': text } };
  return { tests: [{ name: 'has its persona', requests: [{ post: '/v1/messages', body, expect }] }] };
}

function configWith(text: string, workers = 1): object {
  const config = configOf({
    slots: [slotAt('http://127.0.0.1:9')],
    pipeline: stages({ with: { 'persona-inject': { text } } }),
  });
  return { ...config, listen: { host: '127.0.0.1', port: 0, workers }, store: 'sqlite:./store.sqlite' };
}

interface Answer {
  readonly status: number;
  readonly body: {
    readonly status?: string;
    readonly error?: { readonly code: string; readonly message: string; readonly details: Details };
  };
}

interface Details {
  readonly failures: readonly string[];
  readonly changes: { readonly stages: readonly { readonly name: string }[] };
}

describe('a reload of a config with tests', () => {
  const shop = new ProcessWorkshop();
  const folders = new TempFolders();
  let folder = '';
  let gateway: GatewayProcess;
  afterEach(async () => {
    await shop.end();
    await folders.remove();
  });

  async function start(workers: number): Promise<void> {
    folder = await folders.make({
      'gateway.yaml': configWith('old', workers),
      'gateway.test.yaml': testOf('new'),
    });
    gateway = await shop.start({
      args: ['--config', path.join(folder, 'gateway.yaml')],
      env: { GW2API_API_KEY: masterKey },
    });
    await gateway.url(); // tests are not run at a start: the one there fails
  }

  async function reload(query = ''): Promise<Answer> {
    const url = `${await gateway.url()}/admin/reload${query}`;
    const response = await fetch(url, { method: 'POST', headers: { 'x-api-key': masterKey } });
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }

  for (const workers of [1, 2])
    it(`takes it where they pass, and keeps the old one where one fails: ${workers} processes`, async () => {
      await start(workers);
      await writeIn(folder, 'gateway.yaml', configWith('other', workers));
      const { status, body } = await reload();
      expect([status, body.error!.code]).to.deep.equal([409, 'conflict']);
      expect(body.error!.message).to.match(
        /The tests of the new config fail; the old one stays in force\.\n.*gateway\.test\.yaml:\d+:\d+ "has its persona": .*"new".*"other"/,
      );
      expect(body.error!.details.failures).to.have.length(1);
      expect(body.error!.details.changes.stages.map(({ name }) => name)).to.deep.equal(['persona-inject']);
      const line = await gateway.log('The tests of the new config fail; the old one stays in force.');
      expect(line['failures']).to.deep.equal(body.error!.details.failures);
      expect((await reload('?tests=no')).status).to.equal(400);
      expect(await reload('?tests=skip')).to.deep.include({ status: 200 });
      const audit = await gateway.log('An operator has changed the gateway.');
      expect(audit).to.include({ what: 'config.reload', tests: 'skip', by: 'master' });
      await writeIn(folder, 'gateway.yaml', configWith('new', workers));
      expect(await reload()).to.deep.include({ status: 200 });
    });

  for (const workers of [1, 2])
    it(`is refused at SIGHUP too: ${workers} processes`, async () => {
      await start(workers);
      gateway.signal('SIGHUP');
      const line = await gateway.log('The new config was refused; the old one stays in force.');
      expect(String(line['problems'])).to.match(/gateway\.test\.yaml:\d+:\d+ "has its persona"/);
      const entry = await gateway.log('An action of an operator was refused.');
      expect(entry).to.include({ by: 'system', name: 'SIGHUP', what: 'config.reload', code: 'conflict' });
    });

  it('has failed where the tests cannot be read, and tells of a config that cannot be', async () => {
    await start(1);
    await writeIn(folder, 'gateway.test.yaml', { tests: [{ nam: 'x' }] });
    const wrong = await reload();
    expect(wrong.status).to.equal(409);
    expect(wrong.body.error!.message).to.match(/gateway\.test\.yaml:.*nam/);
    await writeIn(folder, 'gateway.yaml', { ...configWith('new'), slots: 7 });
    const { status, body } = await reload();
    expect([status, body.error!.code]).to.deep.equal([400, 'invalid_request']);
    expect(body.error!.message).to.include('slots');
  });

  it('has a limit, and needs no process where there are no tests', async () => {
    folder = await folders.make({ 'gateway.yaml': configWith('new') });
    const file = path.join(folder, 'gateway.yaml');
    expect(await testConfig(file, {}, undefined, 1)).to.deep.equal({ passed: 0, failures: [] });
    await writeIn(folder, 'gateway.test.yaml', testOf('new'));
    expect(await testConfig(file, {}, undefined, 1)).to.deep.equal({
      passed: 0,
      failures: ['The tests had not ended after 0.001 s.'],
    });
    expect(await testConfig(file, {})).to.deep.equal({ passed: 1, failures: [] });
  });

  it('is not misled by what a plugin writes, and cuts off long values', async () => {
    const text = 'x'.repeat(2000);
    folder = await folders.make({
      'gateway.yaml': JSON.stringify(configWith(text)).replace(
        '"pipeline":[',
        '"pipeline":[{"use":"./loud.mjs"},',
      ),
      'gateway.test.yaml': testOf('new'),
      'loud.mjs': `console.log('{ loud }');
        export default { name: 'loud', setup: () => async (ctx, next) => next() };`,
    });
    const { failures } = await testConfig(path.join(folder, 'gateway.yaml'), {});
    expect(failures).to.have.length(1);
    expect(failures[0]).to.match(/"has its persona": .*expected "new", got "x+…$/);
    expect(failures[0]).to.have.length(500);
  });

  it('tells what was expected and came, also beside a hint', async () => {
    const requests = [{ get: '/v1/models', as: 'nobody', expect: { status: 200 } }];
    folder = await folders.make({
      'gateway.yaml': configWith('new'),
      'gateway.test.yaml': { tests: [{ name: 'is open', requests }] },
    });
    const { failures } = await testConfig(path.join(folder, 'gateway.yaml'), {});
    expect(failures[0]).to.match(/"is open": status: expected 200, got 401 \(missing_api_key: .*\)$/);
  });

  it('is what check --test says before', async () => {
    folder = await folders.make({ 'gateway.yaml': configWith('old'), 'gateway.test.yaml': testOf('new') });
    const file = path.join(folder, 'gateway.yaml');
    const red = await shop.run({ args: ['check', '--test', '--config', file] });
    expect(red.code).to.equal(1);
    expect(red.stdout).to.match(/tests: 0 passed, and these failed:\n {2}.*"has its persona"/);
    await writeIn(folder, 'gateway.yaml', configWith('new'));
    const green = await shop.run({ args: ['check', '--test', '--config', file] });
    expect([green.code, green.stdout.includes('tests: 1 passed')]).to.deep.equal([0, true]);
  });
});
