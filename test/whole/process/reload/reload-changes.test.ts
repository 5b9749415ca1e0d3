import { expect } from 'chai';
import { configOf, slotAt, stages, startGateway, type GatewayUnderTest } from '../../harness.js';
import { errorIn } from '../../kit.js';
import { PanelClient } from '../../console/panel-client.js';
import { TempFolders, writeIn } from '../../temp-folders.js';

/** Says when it is set up, started and disposed, and cannot be set up with a wrong tag. */
const mark = `export default {
  name: 'mark',
  options: { type: 'object', properties: { tag: { type: 'string' }, key: { type: 'string', secret: true } } },
  setup({ tag }, host) {
    if (tag === 'wrong') throw new Error('of the tag');
    host.log.info({ tag }, 'set up');
    return {
      start: () => host.log.info({ tag }, 'started'),
      dispose: () => host.log.info({ tag }, 'disposed'),
    };
  },
};
`;

describe('what a reload changes', () => {
  const folders = new TempFolders();
  let folder: string;
  let under: GatewayUnderTest;
  let panel: PanelClient;
  beforeEach(async () => {
    folder = await folders.make({ 'mark.js': mark });
    await write({ tag: 'one' });
    under = await startGateway(`${folder}/gateway.yaml`, { TOKEN: 'SECRET-3' });
    panel = new PanelClient(under.url);
  });
  afterEach(async () => {
    await under.close();
    await folders.remove();
  });

  async function write(options: object, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const pipeline = [{ use: './mark.js', with: options }, ...stages()];
    const slots = [slotAt('http://127.0.0.1:9')];
    await writeIn(folder, 'gateway.yaml', configOf({ pipeline, slots, ...more }));
  }

  /** What the mark has said, in order. */
  const told = () =>
    under.logged
      .filter(({ stage }) => stage === 'mark')
      .map(({ msg, tag }) => `${String(msg)} ${String(tag)}`);

  const tagged = (before: string, after: string) => ({
    name: 'mark',
    change: 'changed',
    settings: [{ path: 'with.tag', change: 'changed', before, after }],
  });

  it('is in the answer to it and counted in its log line', async () => {
    await write({ tag: 'two' }, { console: { allowLinkLocal: true } });
    const answer = await (await under.post('/admin/reload', {})).json();
    expect(answer).to.deep.equal({
      status: 'reloaded',
      needs_restart: [],
      changes: {
        stages: [tagged('one', 'two')],
        pipelines: [],
        formats: [],
        slots: [],
        models: [],
        settings: [{ path: 'console.allowLinkLocal', change: 'changed', before: false, after: true }],
        restart: [],
      },
    });
    const line = under.logged.find(({ msg }) => msg === 'The config was reloaded.');
    expect(line).to.have.deep.property('changes', {
      stages: 1,
      pipelines: 0,
      formats: 0,
      slots: 0,
      models: 0,
      settings: 1,
    });
  });

  it('is about the config before it, and what needs a restart about the start', async () => {
    await write({ tag: 'one' }, { listen: { host: '127.0.0.1', port: 0, trustProxy: true } });
    await under.post('/admin/reload', {});
    expect(await panel.ask('POST', '/reload')).to.deep.include({
      needs_restart: ['listen'],
      changes: { stages: [], pipelines: [], formats: [], slots: [], models: [], settings: [], restart: [] },
    });
  });

  it('is foretold by the file as it stands now, and nothing changes', async () => {
    await write({ tag: 'two' });
    const { file, problems, changes } = await panel.get('/reload');
    expect([file, problems]).to.deep.equal([`${folder}/gateway.yaml`, []]);
    expect(changes.stages).to.deep.equal([tagged('one', 'two')]);
    expect(told()).to.deep.equal(['set up one', 'started one', 'set up two', 'disposed two']);
    expect((await panel.get('/pipeline')).data[0].options).to.deep.equal({ tag: 'one' });
    expect((await panel.ask('POST', '/reload')).changes.stages).to.deep.equal([tagged('one', 'two')]);
    expect((await panel.get('/reload')).changes.stages).to.deep.equal([]);
  });

  it('has the problems of a config that would be refused, in place of changes', async () => {
    await write({ tag: 'wrong' });
    const { problems, changes } = await panel.get('/reload');
    expect(problems).to.have.length(1);
    expect(problems[0]).to.match(/gateway\.yaml:\d+:\d+ pipeline\[0\] "mark" cannot be set up: of the tag$/);
    expect(changes.stages).to.deep.equal([]);
    const refusal = await errorIn(await panel.fetch('POST', '/reload'));
    expect(refusal.code).to.equal('invalid_request');
    expect(refusal.message).to.match(/^The new config was refused; .*\n.*of the tag$/);
    expect(told()).to.deep.equal(['set up one', 'started one']);
  });

  it('shows no secret', async () => {
    await write(
      { tag: 'one', key: '${TOKEN}' },
      { slots: [slotAt('http://u:SECRET-1@127.0.0.1:9', { account: { kind: 'api-key', key: 'SECRET-2' } })] },
    );
    const answers = [await panel.get('/reload'), await panel.ask('POST', '/reload')];
    for (const answer of answers) {
      expect(JSON.stringify(answer)).not.to.include('SECRET');
      expect(answer.changes.stages[0].settings).to.deep.equal([
        { path: 'with.key', change: 'added', secret: true },
      ]);
      expect(answer.changes.slots[0].settings).to.have.length(2);
    }
  });

  it('waits for the reloads and previews before it', async () => {
    await write({ tag: 'two' });
    await Promise.all([panel.get('/reload'), panel.ask('POST', '/reload'), panel.get('/reload')]);
    // In which order the three arrive is open; each ends its candidate, or starts it, before the next sets one up.
    const ends = told()
      .slice(2)
      .filter((line) => line.endsWith('two'))
      .map((line) => line.replace(/ two$/, ''));
    expect(ends.filter((_, at) => at % 2 === 0)).to.deep.equal(['set up', 'set up', 'set up']);
    expect(ends.filter((_, at) => at % 2 === 1).toSorted()).to.deep.equal([
      'disposed',
      'disposed',
      'started',
    ]);
  });

  it('is told to operators alone', async () => {
    const { key } = await panel.ask('POST', '/keys', { name: 'mine' });
    for (const method of ['GET', 'POST']) {
      const protocol = new PanelClient(under.url, { 'x-api-key': key });
      expect((await protocol.fetch(method, '/reload')).status).to.equal(403);
      expect((await new PanelClient(under.url, {}).fetch(method, '/reload')).status).to.equal(401);
    }
  });
});
