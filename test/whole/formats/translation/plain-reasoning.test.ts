import { expect } from 'chai';
import { slotAt, startGateway, type GatewayUnderTest } from '../../harness.js';
import { startOpenaiServer, type OpenaiServer } from '../../slots/upstreams/openai-server.js';
import { startSimulator, type Simulator } from '#plugins/upstreams/simulator/server.js';

type Fields = Readonly<Record<string, unknown>>;

const presets = ['deepseek', 'openrouter', 'mistral', 'groq', 'openai'] as const;
const part = { type: 'thinking', thinking: [{ type: 'text', text: 'MARK' }], closed: true };
const details = [
  { type: 'reasoning.summary', summary: 'MARK', format: 'openai-responses-v1', index: 0 },
  { type: 'reasoning.encrypted', data: 'c2VhbA==', format: 'openai-responses-v1', index: 0 },
];

/** Thinking in the history of a Chat caller, and its place there. */
const thoughts = {
  reasoning_content: [{ content: 'Blue.', reasoning_content: 'MARK' }, 'reasoning_content'],
  reasoning: [{ content: 'Blue.', reasoning: 'MARK' }, 'reasoning'],
  reasoning_details: [
    { content: 'Blue.', reasoning: 'MARK', reasoning_details: details },
    'reasoning_details',
  ],
  parts: [{ content: [part, { type: 'text', text: 'Blue.' }] }, 'content[0]'],
} as const;

/** What each server is sent of it; undefined: nothing, which is reported. */
const sent: Readonly<Record<keyof typeof thoughts, Readonly<Record<string, unknown>>>> = {
  reasoning_content: { deepseek: { reasoning_content: 'MARK' }, custom: { reasoning: 'MARK' } },
  reasoning: { deepseek: { reasoning_content: 'MARK' }, custom: { reasoning: 'MARK' } },
  reasoning_details: {
    deepseek: { reasoning_content: 'MARK' },
    custom: { reasoning: 'MARK' },
    openrouter: { reasoning_details: details },
  },
  parts: {
    deepseek: { reasoning_content: 'MARK' },
    custom: { reasoning: 'MARK' },
    mistral: { content: [part, { type: 'text', text: 'Blue.' }] },
  },
};

describe('thinking without a signature in the history of a Chat caller', () => {
  let server: OpenaiServer;
  let simulator: Simulator;
  const gateways = new Map<string, GatewayUnderTest>();

  before(async () => {
    server = await startOpenaiServer();
    simulator = await startSimulator();
    const slots: Readonly<Record<string, object>> = {
      ...Object.fromEntries(
        presets.map((preset) => [preset, slotAt(server.url, { upstream: 'chat', with: { preset } })]),
      ),
      custom: slotAt(server.url, { upstream: 'chat', with: { reasoningField: 'reasoning' } }),
      responses: slotAt(server.url, { upstream: 'responses' }),
      messages: slotAt(simulator.url),
    };
    for (const [name, slot] of Object.entries(slots))
      gateways.set(name, await startGateway({ slots: [slot] }));
  });
  after(async () => {
    for (const gateway of gateways.values()) await gateway.close();
    await simulator.close();
    await server.close();
  });

  async function ask(slot: string, turn: object, stream: boolean): Promise<Response> {
    const messages = [
      { role: 'user', content: 'Name a colour.' },
      { role: 'assistant', ...turn },
      { role: 'user', content: 'And another?' },
    ];
    const path = '/v1/chat/completions';
    const response = await gateways.get(slot)!.post(path, { model: 'sonnet-5', messages, stream });
    expect(response.status, await response.text()).to.equal(200);
    return response;
  }

  for (const [name, [turn, place]] of Object.entries(thoughts))
    for (const slot of [...presets, 'custom', 'responses', 'messages'])
      it(`as ${name} goes to ${slot} as that takes it, or is reported`, async () => {
        for (const stream of [false, true]) {
          const { headers } = await ask(slot, turn, stream);
          const expected = sent[name as keyof typeof thoughts][slot];
          expect(headers.get('x-gw-dropped')).to.equal(expected ? null : `messages[1].${place}`);
          if (slot === 'messages') continue;
          if (!expected) expect(JSON.stringify(server.bodies.at(-1))).to.not.match(/MARK|c2VhbA|gw2api/);
          else expect(lastAnswer(server)).to.deep.include(expected);
        }
      });

  it('is a turn of its own, which does not vanish', async () => {
    for (const [slot, content] of [
      ['deepseek', ''],
      ['groq', '[thinking left out: only the model that wrote it can read it]'],
    ] as const) {
      const { headers } = await ask(slot, { content: '', reasoning_content: 'MARK' }, false);
      expect(lastAnswer(server)).to.include({ role: 'assistant', content });
      expect(headers.get('x-gw-dropped')).to.equal(slot === 'groq' ? 'messages[1].reasoning_content' : null);
    }
  });

  it('is left out beside what is signed, which says the same', async () => {
    const signed = [{ type: 'reasoning.text', text: 'MARK', signature: 'c2ln' }];
    const { headers } = await ask(
      'deepseek',
      { content: 'b', reasoning_content: 'MARK', reasoning_details: signed },
      false,
    );
    expect(headers.get('x-gw-dropped')).to.equal(null);
    expect(lastAnswer(server)).to.deep.include({ reasoning_content: 'MARK' });
  });

  it('passes redact, as what the caller has said', async () => {
    const redacting = await startGateway({
      pipeline: [
        'auth',
        'body-limit',
        'format-decode',
        'redact',
        'slot-pick',
        'upstream-call',
        'format-encode',
      ].map((use) => (use === 'redact' ? { use, with: { patterns: ['email'] } } : { use })),
      slots: [
        slotAt(server.url, {
          upstream: 'chat',
          with: { preset: 'openrouter', reasoningField: 'reasoning_content' },
        }),
      ],
    });
    try {
      const turn = { role: 'assistant', content: 'Hm.', reasoning_content: 'Ask ann@example.com.' };
      const messages = [{ role: 'user', content: 'Whom?' }, turn, { role: 'user', content: 'Go on.' }];
      await (await redacting.post('/v1/chat/completions', { model: 'sonnet-5', messages })).text();
      const body = JSON.stringify(server.bodies.at(-1));
      expect(body).to.include('"reasoning_content":"Ask ').and.not.include('ann@example.com');
    } finally {
      await redacting.close();
    }
  });
});

describe("Mistral's thinking", () => {
  let server: OpenaiServer;
  let gateway: GatewayUnderTest;
  before(async () => {
    server = await startOpenaiServer();
    gateway = await startGateway({
      slots: [slotAt(server.url, { upstream: 'chat', with: { preset: 'mistral' } })],
    });
  });
  after(async () => {
    await gateway.close();
    await server.close();
  });

  it('goes back to it as it came, also by callers of Messages', async () => {
    const own = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
    server.answer = { deltas: [{ content: [own] }, { content: 'Blue.' }] };
    const asked = { model: 'sonnet-5', max_tokens: 99 };
    const question = { role: 'user', content: 'Name a colour.' };
    const first = await gateway.post('/v1/messages', { ...asked, messages: [question] });
    const { content } = (await first.json()) as { content: readonly Fields[] };
    expect(content.map(({ type }) => type)).to.deep.equal(['thinking', 'text']);
    const messages = [question, { role: 'assistant', content }, { role: 'user', content: 'Another?' }];
    const next = await gateway.post('/v1/messages', { ...asked, messages });
    expect(next.headers.get('x-gw-dropped')).to.equal(null);
    expect(lastAnswer(server)).to.deep.equal({
      role: 'assistant',
      content: [own, { type: 'text', text: 'Blue.' }],
    });
  });
});

/** The assistant's message in the last body. */
function lastAnswer({ bodies }: OpenaiServer): Fields | undefined {
  const messages = bodies.at(-1)?.['messages'] as readonly Fields[];
  return messages.find(({ role }) => role === 'assistant');
}
