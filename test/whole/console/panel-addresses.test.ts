import { expect } from 'chai';
import { ask, slotAt, startPair, type Pair } from '../harness.js';
import { errorIn } from '../kit.js';
import { PanelClient, type Answer } from './panel-client.js';

const oauth = { kind: 'oauth', accessToken: 'a', refreshToken: 'r', clientId: 'c' };
/** Where the fields would lead; nothing is ever sent there. */
const wrong = [
  ['baseUrl', { baseUrl: 'http://169.254.169.254/latest' }],
  ['baseUrl', { baseUrl: 'http://2852039166' }],
  ['baseUrl', { baseUrl: 'http://[::ffff:169.254.169.254]' }],
  ['proxy', { proxy: 'http://100.100.100.200:3128' }],
  ['account.tokenUrl', { account: { ...oauth, tokenUrl: 'http://168.63.129.16/token' } }],
] as const;

const why =
  'is a link-local or metadata address, where slots of the console may not connect; `console.allowLinkLocal` in the config file allows it';

describe('the addresses of slots that are entered in the console', () => {
  let pair: Pair;
  let panel: PanelClient;
  beforeEach(async () => {
    pair = await startPair();
    panel = new PanelClient(pair.url);
  });
  afterEach(() => pair.close());

  const enter = (fields: object): Promise<Answer> =>
    panel.ask('POST', '/slots', { ...slotAt(pair.simulator.url), id: 'b', ...fields });

  for (const [field, fields] of wrong)
    it(`may not be link-local, as ${field} of ${JSON.stringify(fields).slice(0, 50)}`, async () => {
      const refused = { status: 400, message: `${field}: ${why}` };
      const entered = { ...slotAt(pair.simulator.url), id: 'b' };
      const made = await panel.fetch('POST', '/slots', { ...entered, ...fields });
      expect(await errorIn(made)).to.include(refused);
      await enter({});
      const account = { kind: 'api-key', key: 'sent-again' };
      const changed = await panel.fetch('PATCH', '/slots/b', { account, ...fields });
      expect(await errorIn(changed)).to.include(refused);
      const stored = await pair.gateway.services.store.slots.get('b');
      expect(stored!.settings['baseUrl']).to.equal(pair.simulator.url);
    });

  it('may not be so in what the store had before', async () => {
    const atMs = Date.now();
    const settings = { upstream: 'messages', baseUrl: 'http://169.254.169.254' };
    const account = { kind: 'none' };
    await pair.gateway.services.store.slots.put({
      id: 'old',
      settings,
      account,
      createdAtMs: atMs,
      updatedAtMs: atMs,
    });
    await pair.gateway.slotsChanged();
    const { data } = await panel.get('/slots');
    expect(data.find(({ id }: Answer) => id === 'old')).to.deep.include({
      state: 'unusable',
      problem: `baseUrl: ${why}`,
    });
  });

  it('may be any other, and names', async () => {
    await enter({ baseUrl: pair.simulator.url.replace('127.0.0.1', 'localhost') });
    pair.gateway.services.slots.pause('a');
    const response = await pair.post('/v1/messages', ask('Hello!'));
    expect([response.status, response.headers.get('x-gw-slot')]).to.deep.equal([200, 'b']);
  });
});
