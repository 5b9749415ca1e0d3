import { expect } from 'chai';
import { slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startOpenaiServer, type OpenaiServer } from './openai-server.js';

interface Marked {
  readonly cache_control?: object;
}

interface Sent extends Marked {
  readonly tools: readonly Marked[];
  readonly messages: readonly { readonly content: readonly Marked[] }[];
}

const mark = { cache_control: { type: 'ephemeral' } };
const parameters = { type: 'object', properties: {} };

describe('cache markers over a slot of OpenRouter', () => {
  let server: OpenaiServer;
  let gateway: GatewayUnderTest;
  before(async () => {
    server = await startOpenaiServer();
    gateway = await startGateway({
      slots: [slotAt(server.url, { upstream: 'chat', with: { preset: 'openrouter' } })],
    });
  });
  after(async () => {
    await gateway.close();
    await server.close();
  });

  const bodies: Readonly<Record<string, readonly [path: string, body: object]>> = {
    Messages: [
      '/v1/messages',
      {
        max_tokens: 99,
        tools: [{ name: 'look', input_schema: parameters, ...mark }],
        messages: [
          { role: 'user', content: 'Look.' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'Blue.', ...mark }] },
        ],
        ...mark,
      },
    ],
    Chat: [
      '/v1/chat/completions',
      {
        tools: [{ type: 'function', function: { name: 'look', parameters }, ...mark }],
        messages: [
          { role: 'user', content: 'Look.' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'Blue.', ...mark }] },
        ],
        ...mark,
      },
    ],
  };
  for (const [caller, [path, fields]] of Object.entries(bodies))
    for (const stream of [false, true])
      it(`arrive from callers of ${caller}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const headers = { 'x-gw-web-search': 'false' };
        const response = await gateway.post(path, { model: 'sonnet-5', ...fields, stream }, headers);
        expect(response.status, await response.text()).to.equal(200);
        expect(response.headers.get('x-gw-dropped')).to.equal(null);
        const { tools, messages, cache_control: top } = server.bodies.at(-1) as unknown as Sent;
        const marked = [tools[0], messages.at(-1)?.content[0], { cache_control: top }];
        for (const part of marked) expect(part?.cache_control).to.include(mark.cache_control);
      });
});
