import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { eventually } from '../../../eventually.js';
import { Kit } from '../../../engine/transport/upstream-kit.js';
import { errorIn } from '../../kit.js';
import { startGateway, type GatewayUnderTest } from '../../harness.js';

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

describe('a slot with `models: discover`', () => {
  const kit = new Kit();
  let under: GatewayUnderTest | undefined;
  /** Models of the calls. */
  const asked: string[] = [];
  /** Number of lists that were asked for. */
  let listed = 0;
  afterEach(async () => {
    await under?.close();
    await kit.close();
  });

  /** A gateway over a Chat server with these models; 500 for its list without them. */
  async function start(models?: readonly object[], settings: object = {}): Promise<GatewayUnderTest> {
    asked.length = 0;
    listed = 0;
    const url = await kit.serve(async (request, response) => {
      const body = await text(request);
      if (request.url === '/v1/chat/completions') {
        asked.push((JSON.parse(body) as { model: string }).model);
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(`${chunk({ content: 'Hi' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
      } else {
        listed += 1;
        response.writeHead(models ? 200 : 500).end(JSON.stringify({ object: 'list', data: models }));
      }
    });
    const account = { kind: 'api-key', key: 'upstream-key' };
    const slot = {
      id: 'local',
      upstream: 'chat',
      baseUrl: `${url}/v1`,
      account,
      models: 'discover',
      ...settings,
    };
    under = await startGateway({ slots: [slot] });
    return under;
  }

  async function idsIn(gateway: GatewayUnderTest): Promise<readonly string[]> {
    const { data } = (await (await gateway.get('/v1/models')).json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  }

  const ask = (gateway: GatewayUnderTest, model: string) =>
    gateway.post('/v1/messages', { model, max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] });

  it('is what the console begins with: its models come before those that no slot serves', async () => {
    const gateway = await start([{ id: 'models/own-1' }]);
    await eventually(async () => (await idsIn(gateway)).includes('own-1'));
    const { data } = (await (await gateway.get('/api/panel/models')).json()) as {
      data: { id: string; served: boolean }[];
    };
    expect(data[0]).to.include({ id: 'own-1', served: true });
    expect(new Set(data.slice(1).map(({ served }) => served))).to.deep.equal(new Set([false]));
    for (const name of ['own-1', 'models/own-1']) expect((await ask(gateway, name)).status).to.equal(200);
    expect(asked).to.deep.equal(['own-1', 'own-1']);
  });

  it('has its models listed beside those of the catalog, with their limits', async () => {
    const gateway = await start([{ id: 'llama-9', max_model_len: 8192 }, { id: 'sonnet-5' }]);
    await eventually(async () => (await idsIn(gateway)).includes('llama-9'));
    const ids = await idsIn(gateway);
    expect(ids.filter((id) => id === 'sonnet-5')).to.have.length(1);
    expect(ids.at(-1)).to.equal('llama-9');
    const one = await gateway.get('/v1/models/llama-9');
    expect(await one.json()).to.include({ id: 'llama-9', context_window: 8192 });
    const { data: slots } = (await (await gateway.get('/admin/slots')).json()) as {
      data: { models: string[] }[];
    };
    expect(slots[0]!.models).to.deep.equal(['llama-9', 'sonnet-5']);
  });

  it('serves those alone, once they are known', async () => {
    const gateway = await start([{ id: 'llama-9' }]);
    await eventually(async () => (await idsIn(gateway)).includes('llama-9'));
    expect((await ask(gateway, 'llama-9')).status).to.equal(200);
    expect(await errorIn(await ask(gateway, 'haiku-5'))).to.include({
      status: 404,
      code: 'model_not_found',
    });
  });

  it('serves any model as long as its upstream gives no list', async () => {
    const gateway = await start();
    expect((await ask(gateway, 'llama-9')).status).to.equal(200);
    expect(await idsIn(gateway)).to.not.include('llama-9');
  });

  it('serves any model where the list of its upstream is empty', async () => {
    const gateway = await start([]);
    await eventually(() => listed > 0);
    expect((await ask(gateway, 'llama-9')).status).to.equal(200);
    expect((await ask(gateway, 'llama-9')).status).to.equal(200);
  });

  it('serves listed models by their names without a date and without `:latest`', async () => {
    const gateway = await start([{ id: 'llama-9:latest' }, { id: 'claude-haiku-5-20260601' }]);
    await eventually(async () => (await idsIn(gateway)).includes('llama-9:latest'));
    for (const model of ['llama-9', 'llama-9:latest', 'haiku-5', 'claude-haiku-5'])
      expect((await ask(gateway, model)).status, model).to.equal(200);
    expect(asked).to.deep.equal([
      'llama-9:latest',
      'llama-9:latest',
      'claude-haiku-5-20260601',
      'claude-haiku-5-20260601',
    ]);
    expect((await ask(gateway, 'claude-haiku-5-20250101')).status).to.equal(404);
  });

  it('serves what its filter lets through, before the first list too', async () => {
    const filter = ['llama-*', 'qwen-3'];
    const gateway = await start([{ id: 'llama-9' }, { id: 'qwen-3' }, { id: 'qwen-4' }], { filter });
    await eventually(async () => (await idsIn(gateway)).includes('llama-9'));
    expect((await idsIn(gateway)).slice(-2)).to.deep.equal(['llama-9', 'qwen-3']);
    expect((await ask(gateway, 'qwen-3')).status).to.equal(200);
    expect((await ask(gateway, 'qwen-4')).status).to.equal(404);
    await gateway.close();
    const unlisted = await start(undefined, { filter });
    expect((await ask(unlisted, 'llama-10')).status).to.equal(200);
    expect((await ask(unlisted, 'qwen-4')).status).to.equal(404);
  });

  it('logs the first list, so after a restart too', async () => {
    const gateway = await start([{ id: 'llama-9' }, { id: 'qwen-4' }], { filter: 'llama-*' });
    await eventually(() => gateway.logged.some(({ msg }) => msg === 'Listed the models of a slot.'));
    const line = gateway.logged.find(({ msg }) => msg === 'Listed the models of a slot.');
    expect(line).to.deep.include({ level: 'info', slot: 'local', count: 1, models: ['llama-9'] });
  });

  for (const [kind, settings, ids] of [
    [
      'bedrock',
      { with: { region: 'eu-central-1' } },
      ['eu.anthropic.claude-sonnet-5-5', 'global.anthropic.claude-fable-5-1'],
    ],
    ['vertex', { with: { project: 'p' } }, ['claude-sonnet-5', 'claude-haiku-4-5@20251001']],
  ] as const)
    it(`serves the models that are known of a kind without a list (${kind})`, async () => {
      const account = { kind: 'bearer', token: 'cloud-token' };
      const gateway = await start([], { upstream: kind, account, ...settings });
      expect(await idsIn(gateway)).to.include.members([...ids].filter((id) => id !== 'claude-sonnet-5'));
      for (const model of [...ids, 'claude-haiku-4-5', 'claude-haiku-4-5-20251001', 'claude-opus-4-6'])
        expect((await ask(gateway, model)).status, model).to.not.equal(404);
      for (const model of ['claude-opus-9', 'us.anthropic.claude-sonnet-5-5'])
        expect(await errorIn(await ask(gateway, model)), model).to.include({ code: 'model_not_found' });
    });
});
