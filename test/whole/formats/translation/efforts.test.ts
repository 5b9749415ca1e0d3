import { expect } from 'chai';
import { slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startOpenaiServer, type OpenaiServer } from '../../slots/upstreams/openai-server.js';

const messages = [{ role: 'user', content: 'Think.' }];

/** How callers of each format ask for an effort, and what they call it. */
const callers = {
  messages: [
    '/v1/messages',
    (effort: string) => ({
      max_tokens: 99,
      messages,
      ...(effort === 'none' ? { thinking: { type: 'disabled' } } : { output_config: { effort } }),
    }),
    { effort: 'output_config.effort', off: 'thinking' },
  ],
  chat: [
    '/v1/chat/completions',
    (reasoning_effort: string) => ({
      messages,
      reasoning_effort,
      thinking: { type: reasoning_effort === 'none' ? 'disabled' : 'enabled' },
    }),
    { effort: 'reasoning_effort', off: 'reasoning_effort' },
  ],
  responses: [
    '/v1/responses',
    (effort: string) => ({ input: 'Think.', reasoning: { effort } }),
    { effort: 'reasoning.effort', off: 'reasoning.effort' },
  ],
} as const;

const slots = {
  openai: { upstream: 'chat', with: { preset: 'openai' } },
  old: { upstream: 'chat', with: { preset: 'openai' } },
  groq: { upstream: 'chat', with: { preset: 'groq' } },
  generic: { upstream: 'chat' },
  responses: { upstream: 'responses' },
} as const;

describe('the effort of thinking', () => {
  let server: OpenaiServer;
  const gateways = new Map<string, GatewayUnderTest>();
  before(async () => {
    server = await startOpenaiServer();
    for (const [name, slot] of Object.entries(slots))
      gateways.set(name, await startGateway({ slots: [slotAt(server.url, slot)] }));
  });
  after(async () => {
    for (const gateway of gateways.values()) await gateway.close();
    await server.close();
  });
  afterEach(() => void (server.refuse = () => undefined));

  /** Effort that the server was sent, and what the caller is told of it. */
  async function ask(
    slot: keyof typeof slots,
    caller: keyof typeof callers,
    effort: string,
    stream: boolean,
  ) {
    const [path, bodyOf] = callers[caller];
    const response = await gateways.get(slot)!.post(path, { model: 'sonnet-5', ...bodyOf(effort), stream });
    expect(response.status, await response.text()).to.equal(200);
    const { reasoning_effort: own, reasoning } = server.bodies.at(-1) ?? {};
    const sent = own ?? (reasoning as { effort?: string } | undefined)?.effort;
    return [sent, response.headers.get('x-gw-dropped')];
  }

  for (const [caller, [, , names]] of Object.entries(callers) as [
    keyof typeof callers,
    (typeof callers)['chat'],
  ][])
    for (const stream of [false, true])
      describe(`of a caller of ${caller}, ${stream ? 'streamed' : 'whole'}`, () => {
        it('arrives, max and none too, and is not reported beside thinking that says the same', async () => {
          for (const slot of ['openai', 'responses'] as const)
            for (const effort of ['low', 'max', 'none'])
              expect(await ask(slot, caller, effort, stream)).to.deep.equal([effort, null]);
        });

        it('is reported where it is lowered, or the server has no switch', async () => {
          expect(await ask('groq', caller, 'max', stream)).to.deep.equal(['high', names.effort]);
          expect(await ask('generic', caller, 'none', stream)).to.deep.equal([undefined, names.off]);
        });
      });

  it('is lowered to what a refusal lists, and reported', async () => {
    server.refuse = ({ reasoning_effort: effort }) =>
      effort === 'max'
        ? "Unsupported value: 'reasoning_effort' does not support 'max' with this model. Supported values are: 'low', 'medium', and 'high'."
        : undefined;
    for (const stream of [false, true])
      expect(await ask('old', 'messages', 'max', stream)).to.deep.equal(['high', 'output_config.effort']);
  });
});
