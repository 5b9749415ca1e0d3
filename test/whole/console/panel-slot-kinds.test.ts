import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';
import { slotAt, startGateway, type GatewayUnderTest } from '../harness.js';
import { errorIn } from '../kit.js';
import { PanelClient, type Answer } from './panel-client.js';
import { TempFolders } from '../temp-folders.js';

const upstream = `export default {
  name: 'mine',
  needs: ['account'],
  accounts: ['./file-key.mjs', 'none'],
  options: {
    type: 'object',
    title: 'My provider',
    description: 'Where it runs.',
    required: ['region'],
    properties: {
      region: { type: 'string', title: 'Region', description: 'Of the provider.' },
      token: { type: 'string', secret: true, default: 'SECRET-default' },
      mode: { enum: ['fast', 2, true], default: 'fast' },
      size: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' } },
      names: { type: 'object', patternProperties: { '^.*$': { type: 'string' } } },
      limits: { type: 'object', additionalProperties: { type: ['integer', 'boolean'] } },
      capabilities: { type: 'object', properties: { tools: { type: 'boolean', default: true } } },
      certificate: { type: 'object', properties: { file: { type: 'string', local: true } } },
    },
  },
  open: () => ({ generate: () => Promise.reject(new Error('no')), close: async () => {} }),
};
`;

const account = `export default {
  name: 'file-key',
  options: {
    type: 'object',
    anyOf: [
      { required: ['key'], properties: { key: { type: 'string', secret: true } } },
      { required: ['keyFile'], properties: { keyFile: { type: 'string', local: true } } },
    ],
    additionalProperties: true,
  },
  open: () => ({ authorize: () => ({}) }),
};
`;

describe('/api/panel/slot-kinds', () => {
  const folders = new TempFolders();
  let simulator: Simulator;
  let under: GatewayUnderTest;
  let panel: PanelClient;
  before(async () => {
    simulator = await startSimulator({});
    const folder = await folders.make({ 'mine.mjs': upstream, 'file-key.mjs': account });
    const mine = { with: { region: 'eu' }, account: { kind: './file-key.mjs', keyFile: '/etc/hostname' } };
    const slots = [slotAt(simulator.url), { id: 'own', upstream: './mine.mjs', ...mine }];
    const secretKey = randomBytes(32).toString('base64');
    under = await startGateway({ slots, store: 'memory' }, {}, Date.now, { secretKey, baseDir: folder });
    panel = new PanelClient(under.url);
  });
  after(async () => {
    await under.close();
    await simulator.close();
    await folders.remove();
  });

  const kind = async (part: 'upstreams' | 'accounts', use: string): Promise<Answer> =>
    (await panel.get('/slot-kinds'))[part].find((each: Answer) => each.use === use);

  it('has the built-in kinds and those of the config file', async () => {
    const { upstreams, accounts } = await panel.get('/slot-kinds');
    expect(upstreams.map(({ use }: Answer) => use)).to.include.members([
      './mine.mjs',
      'messages',
      'simulator',
    ]);
    expect(accounts.map(({ use }: Answer) => use)).to.include.members([
      './file-key.mjs',
      'api-key',
      'none',
      'oauth',
    ]);
    expect([...upstreams, ...accounts].filter(({ problem }: Answer) => problem !== null)).to.deep.equal([]);
  });

  it('has every option of a kind as a field of a form, and no default of a secret', async () => {
    const { fields, ...mine } = await kind('upstreams', './mine.mjs');
    expect(mine).to.deep.equal({
      use: './mine.mjs',
      title: 'My provider',
      description: 'Where it runs.',
      needs: ['account'],
      accounts: ['./file-key.mjs', 'none'],
      problem: null,
    });
    const shown = fields.map(
      ({ path, control, choices, required, secret, local, default: initial }: Answer) => [
        path.join('.'),
        control,
        ...(choices.length > 0 ? [choices] : []),
        ...(required ? ['required'] : []),
        ...(secret ? ['secret'] : []),
        ...(local ? ['local'] : []),
        ...(initial === null ? [] : [`= ${initial}`]),
      ],
    );
    expect(shown).to.deep.equal([
      ['region', 'text', 'required'],
      ['token', 'text', 'secret'],
      ['mode', 'choice', ['fast', 2, true], '= fast'],
      ['size', 'number'],
      ['tags', 'list'],
      ['names', 'texts'],
      ['limits', 'map'],
      ['capabilities.tools', 'boolean', '= true'],
      ['certificate.file', 'text', 'local'],
    ]);
  });

  it('has the options of all alternatives of a schema', async () => {
    const { fields } = await kind('accounts', './file-key.mjs');
    expect(fields.map(({ path }: Answer) => path)).to.deep.equal([['key'], ['keyFile']]);
  });

  it('has the words of the reference config', async () => {
    const { fields } = await kind('accounts', 'oauth');
    const secret = fields.find(({ path }: Answer) => path[0] === 'clientSecret');
    expect(secret.description).to.equal('Only where the provider issues one.');
    const { fields: own } = await panel.get('/slot-kinds');
    const weight = own.find(({ path }: Answer) => path[0] === 'weight');
    expect(weight.description).to.match(/^Its share/);
  });

  it('lets the console set no option that reads the machine of the gateway', async () => {
    const entry = {
      id: 'b',
      upstream: './mine.mjs',
      with: { region: 'eu', certificate: { file: '/etc/passwd' } },
      account: { kind: './file-key.mjs', keyFile: '/etc/passwd' },
    };
    const error = await errorIn(await panel.fetch('POST', '/slots', entry));
    expect(error.message.split('\n')).to.deep.equal([
      "with.certificate.file: gives access to the gateway's machine; only a slot of the config file may set it",
      "account.keyFile: gives access to the gateway's machine; only a slot of the config file may set it",
    ]);
    const keyed = { ...entry, with: { region: 'eu' }, account: { kind: './file-key.mjs', key: 'k' } };
    expect(await panel.ask('POST', '/slots', keyed)).to.include({ id: 'b', state: 'ready' });
    const patch = { account: { keyFile: '/etc/passwd' } };
    expect(await errorIn(await panel.fetch('PATCH', '/slots/b', patch))).to.include({ status: 400 });
  });

  it('drops the options of another upstream', async () => {
    const options = { region: 'eu', size: 3 };
    const entry = { upstream: './mine.mjs', with: options, account: { kind: 'none' } };
    await panel.ask('POST', '/slots', { id: 'c', ...entry });
    const changed = await panel.ask('PATCH', '/slots/c', { upstream: 'simulator' });
    expect(changed.settings).to.not.have.property('with');
  });
});
