import { expect } from 'chai';
import { dialects } from '../dialects.js';
import { slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startOpenaiServer, type OpenaiServer } from '../../slots/upstreams/openai-server.js';

describe('a slot with thinkTags', () => {
  let server: OpenaiServer;
  let gateway: GatewayUnderTest;
  before(async () => {
    server = await startOpenaiServer();
    server.answer = { deltas: ['<thi', 'nk>Hm.</', 'think>', 'Blue.'].map((content) => ({ content })) };
    const slot = { upstream: 'chat', with: { preset: 'vllm', thinkTags: true } };
    gateway = await startGateway({ slots: [slotAt(server.url, slot)] });
  });
  after(async () => {
    await gateway.close();
    await server.close();
  });

  for (const caller of ['messages', 'chat', 'responses'] as const)
    for (const stream of [true, false])
      it(`gives callers of ${caller} thinking, ${stream ? 'streamed' : 'whole'}`, async () => {
        const { path, request, fold, whole } = dialects[caller];
        const response = await gateway.post(path, { ...request('Name a colour.'), stream });
        const answer = JSON.stringify(
          stream ? await fold(await response.text()) : whole(await response.json()),
        );
        expect(answer).to.include('"Hm."').and.include('"Blue."').and.not.include('think>');
      });
});
