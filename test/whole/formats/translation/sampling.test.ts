import { expect } from 'chai';
import { shippedCatalog, slotAt, startGateway, startPair, type GatewayUnderTest } from '../../harness.js';
import { lastCall } from '../../kit.js';
import { startOpenaiServer } from '../../slots/upstreams/openai-server.js';

const sampling = { temperature: 0.2, top_p: 0.9 };

const ask = (gateway: GatewayUnderTest, model: string) =>
  gateway.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi.' }], ...sampling });

describe('sampling', () => {
  for (const model of ['sonnet-5', 'haiku-5', 'new-7'])
    it(`is one of the two at a Messages upstream unless the catalog says more: ${model}`, async () => {
      const pair = await startPair({ models: shippedCatalog }, { hasModelList: false });
      const response = await ask(pair, model);
      expect([response.status, response.headers.get('x-gw-dropped')]).to.deep.equal([200, 'top_p']);
      const { temperature, top_p } = lastCall(pair.simulator);
      expect([temperature, top_p]).to.deep.equal([0.2, undefined]);
      await pair.close();
    });

  for (const upstream of ['chat', 'responses'])
    it(`goes to a ${upstream} upstream as it was sent`, async () => {
      const server = await startOpenaiServer();
      const slot = slotAt(server.url, {
        upstream,
        ...(upstream === 'chat' && { with: { preset: 'openai' } }),
      });
      const gateway = await startGateway({ models: shippedCatalog, slots: [slot] });
      for (const model of ['sonnet-5', 'haiku-5', 'new-7']) {
        const response = await ask(gateway, model);
        expect([response.status, response.headers.get('x-gw-dropped')]).to.deep.equal([200, null]);
        expect(server.bodies.at(-1)).to.include(sampling);
      }
      await gateway.close();
      await server.close();
    });
});
