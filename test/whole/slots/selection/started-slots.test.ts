import { expect } from 'chai';
import { ConfigError } from '#src/config/config.js';
import { ask, configOf, startGateway, stages, type GatewayUnderTest } from '../../harness.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

/** Plugins that write down what is done with them. */
const files = {
  'stage.mjs': `export default { name: 'stage', setup: () => ({ start() { globalThis.calls.push('stage started'); } }) };`,
  'up.mjs': `export default { name: 'up', options: { type: 'object', properties: { fails: { type: 'boolean' } } },
    open: ({ fails }, { slot }) => {
      globalThis.calls.push(slot.id + ' opened');
      return {
        async start() { if (fails) throw new Error('no such host'); globalThis.calls.push(slot.id + ' started'); },
        generate() { throw new Error('not now'); },
        async close() { globalThis.calls.push(slot.id + ' closed'); },
      };
    } };`,
  'own.mjs': `export default { name: 'own', open: () => ({
    start() { globalThis.calls.push('account started'); }, authorize: () => ({}) }) };`,
};

describe('the upstream and the account of a slot', () => {
  const folders = new TempFolders();
  const shared = globalThis as { calls?: string[] };
  let under: GatewayUnderTest | undefined;
  let folder: string;
  beforeEach(async () => {
    shared.calls = [];
    folder = await folders.make(files);
  });
  afterEach(async () => {
    await under?.close();
    under = undefined;
    delete shared.calls;
    await folders.remove();
  });

  const slot = (id: string, fails = false) => ({
    id,
    upstream: './up.mjs',
    with: { fails },
    account: { kind: './own.mjs' },
  });
  const write = (...slots: readonly object[]) =>
    writeIn(folder, 'gateway.yaml', configOf({ slots, pipeline: [{ use: './stage.mjs' }, ...stages()] }));
  const start = async () => (under = await startGateway(`${folder}/gateway.yaml`));

  it('start once all is set up, before the stages do, and those of a reload with it', async () => {
    await write(slot('a'));
    await start();
    const first = ['a opened', 'account started', 'a started', 'stage started'];
    expect(shared.calls).to.deep.equal(first);
    await write(slot('a'), slot('b'));
    expect((await under!.post('/admin/reload', {})).status).to.equal(200);
    const second = ['stage started', 'b opened', 'account started', 'b started'];
    expect(shared.calls).to.deep.equal([...first, ...second]);
  });

  it('are named with their line if they do not start, all of them, and are closed', async () => {
    await write(slot('a', true), slot('b'), slot('c', true));
    const error: unknown = await start().catch((thrown: unknown) => thrown);
    expect(error).to.be.an.instanceof(ConfigError);
    const { problems } = error as ConfigError;
    expect(problems.map(({ path, subject, message }) => [path, subject, message])).to.deep.equal([
      ['slots[0].upstream', './up.mjs', 'cannot be started: no such host'],
      ['slots[2].upstream', './up.mjs', 'cannot be started: no such host'],
    ]);
    expect(shared.calls!.filter((call) => call.endsWith('closed'))).to.have.members([
      'a closed',
      'b closed',
      'c closed',
    ]);
    expect(shared.calls).to.not.include('stage started');
  });

  it('that do not start keep the old config at a reload', async () => {
    await write(slot('a'));
    await start();
    await write(slot('a'), slot('b', true));
    const answer = await under!.post('/admin/reload', {});
    expect(answer.status).to.equal(400);
    expect(await answer.text())
      .to.include('slots[1].upstream')
      .and.to.include('cannot be started: no such host');
    expect(under!.gateway.services.slots.list().map(({ id }) => id)).to.deep.equal(['a']);
    expect(shared.calls).to.include('b closed').and.not.include('a closed');
    expect((await under!.post('/v1/messages', ask('Hi'))).status, 'of the old slot').to.equal(500);
  });
});
