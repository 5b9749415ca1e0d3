import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { Kit } from '../transport/upstream-kit.js';
import { errorIn } from './kit.js';
import { startGateway, type GatewayUnderTest } from './harness.js';

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

describe('a slot with `models: discover`', () => {
  const kit = new Kit();
  let under: GatewayUnderTest | undefined;
  afterEach(async () => {
    await under?.close();
    await kit.close();
  });

  /** A gateway over a Chat server with these models; 500 for its list without them. */
  async function start(models?: readonly object[]): Promise<GatewayUnderTest> {
    const url = await kit.serve((request, response) => {
      request.resume();
      if (request.url === '/v1/chat/completions')
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(`${chunk({ content: 'Hi' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
      else response.writeHead(models ? 200 : 500).end(JSON.stringify({ object: 'list', data: models }));
    });
    const account = { kind: 'api-key', key: 'upstream-key' };
    const slot = { id: 'local', upstream: 'chat', baseUrl: `${url}/v1`, account, models: 'discover' };
    under = await startGateway({ slots: [slot] });
    return under;
  }

  async function idsIn(gateway: GatewayUnderTest): Promise<readonly string[]> {
    const { data } = (await (await gateway.get('/v1/models')).json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  }

  const ask = (gateway: GatewayUnderTest, model: string) =>
    gateway.post('/v1/messages', { model, max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] });

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
});
