import path from 'node:path';
import { expect } from 'chai';
import { testConfig } from '#src/features/tests/before-reload.js';
import { ProcessWorkshop } from '../../gateway-process.js';
import { TempFolders, writeIn } from '../../temp-folders.js';
import { configWith, TestedGateway, takesTested, testOf } from './tested-reload.js';

/** All of them have one gateway, in this order. */
describe('a reload of a config with tests', () => {
  const gateway = new TestedGateway();
  before(() => gateway.start(1));
  after(() => gateway.end());

  it('takes it where they pass, and keeps the old one where one fails: 1 process', () =>
    takesTested(gateway, 1));

  it('says of which pipeline a failed test is, of a canary too', async () => {
    const red = { name: 'red', tests: ['./teams/red.test.yaml'] };
    await writeIn(gateway.folder, 'teams/red.test.yaml', testOf('new'));
    await writeIn(gateway.folder, 'gateway.yaml', { ...configWith('new'), pipelines: [red] });
    for (const query of ['', '?canary=5']) {
      const { status, body } = await gateway.reload(query);
      expect(status).to.equal(409);
      const [failure] = body.error!.details.failures;
      expect(failure).to.include({ test: 'has its persona', pipeline: 'red' });
      expect(body.error!.message).to.include(failure!.message).and.include('of the pipeline "red": lands in');
    }
    for (const [text, fault] of [
      [{ tests: [{ nam: 'x' }] }, 'nam'],
      [undefined, 'the file does not exist'],
    ] as const) {
      const file = `./teams/${text ? 'wrong' : 'gone'}.test.yaml`;
      if (text) await writeIn(gateway.folder, file, text);
      const pipelines = [{ name: 'red', tests: [file] }];
      await writeIn(gateway.folder, 'gateway.yaml', { ...configWith('new'), pipelines });
      const { status, body } = await gateway.reload();
      expect(status).to.equal(409);
      const { failures } = body.error!.details;
      expect(failures.map(({ pipeline }) => pipeline)).to.deep.equal(failures.map(() => 'red'));
      expect(failures[0]!.message).to.include(fault);
    }
    await writeIn(gateway.folder, 'gateway.yaml', configWith('new'));
  });

  it('has failed where the tests cannot be read, and tells of a config that cannot be', async () => {
    await writeIn(gateway.folder, 'gateway.test.yaml', { tests: [{ nam: 'x' }] });
    const wrong = await gateway.reload();
    expect(wrong.status).to.equal(409);
    expect(wrong.body.error!.message).to.match(/gateway\.test\.yaml:.*nam/);
    await writeIn(gateway.folder, 'gateway.yaml', { ...configWith('new'), slots: 7 });
    const { status, body } = await gateway.reload();
    expect([status, body.error!.code]).to.deep.equal([400, 'invalid_request']);
    expect(body.error!.message).to.include('slots');
  });
});

describe('the tests of a config', () => {
  const shop = new ProcessWorkshop();
  const folders = new TempFolders();
  let folder = '';
  afterEach(async () => {
    await shop.end();
    await folders.remove();
  });

  it('tell what was expected and came, also beside a hint', async () => {
    const requests = [{ get: '/v1/models', as: 'nobody', expect: { status: 200 } }];
    folder = await folders.make({
      'gateway.yaml': configWith('new'),
      'gateway.test.yaml': { tests: [{ name: 'is open', requests }] },
    });
    const { failures } = await testConfig(path.join(folder, 'gateway.yaml'), {});
    expect(failures[0]!.message).to.match(
      /"is open": status: expected 200, got 401 \(missing_api_key: .*\)$/,
    );
  });

  it('are what check --test says before', async () => {
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
