import path from 'node:path';
import { expect } from 'chai';
import { testConfig } from '#src/features/tests/before-reload.js';
import { TempFolders, writeIn } from '../../temp-folders.js';
import { configWith, refusesAtSighup, takesTested, TestedGateway, testOf } from './tested-reload.js';

describe('a reload of a config with tests', () => {
  const gateway = new TestedGateway();
  before(() => gateway.start(2));
  after(() => gateway.end());

  it('takes it where they pass, and keeps the old one where one fails: 2 processes', () =>
    takesTested(gateway, 2));

  it('is refused at SIGHUP too where one fails: 2 processes', () => refusesAtSighup(gateway, 2));
});

describe('a reload of a config with tests in one process', () => {
  const gateway = new TestedGateway();
  before(() => gateway.start(1));
  after(() => gateway.end());

  it('is refused at SIGHUP too where one fails: 1 process', () => refusesAtSighup(gateway, 1));
});

describe('the tests of a config', () => {
  const folders = new TempFolders();
  let folder = '';
  afterEach(() => folders.remove());

  it('have a limit, and need no process where there are none', async () => {
    folder = await folders.make({ 'gateway.yaml': configWith('new') });
    const file = path.join(folder, 'gateway.yaml');
    expect(await testConfig(file, {}, undefined, 1)).to.deep.equal({ passed: 0, failures: [] });
    await writeIn(folder, 'gateway.test.yaml', testOf('new'));
    expect(await testConfig(file, {}, undefined, 1)).to.deep.equal({
      passed: 0,
      failures: [{ message: 'The tests did not end within 0.001 s.' }],
    });
    expect(await testConfig(file, {})).to.deep.equal({ passed: 1, failures: [] });
  });

  it('are not misled by what a plugin writes, and cut off long values', async () => {
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
    expect(failures[0]!.message).to.match(/"has its persona": .*expected "new", got "x+…$/);
    expect(failures[0]!.message).to.have.length(500);
  });
});
