import { expect } from 'chai';
import { eventsIn } from '../../harness.js';
import { startKinds, type SlotKinds } from './slot-kinds.js';

const user = (content: unknown) => ({ role: 'user', content });
const tool = {
  name: 'lookup',
  description: 'Looks up a word.',
  input_schema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
};
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
const ephemeral = { type: 'ephemeral' };
const toolLoop = [
  user('Look up "blue".'),
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'toolu_1', name: 'lookup', input: { word: 'blue' } }],
  },
  user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'A colour.' }]),
];

/** Requests by what is in them; system texts of several lengths, so that rounding shows. */
const bodies: Readonly<Record<string, object>> = {
  'one text': { messages: [user('Name a colour.')] },
  tools: { messages: [user('Name a colour.')], tools: [tool] },
  'a tool loop': { messages: toolLoop, tools: [tool], tool_choice: { type: 'auto' } },
  'a tool by name': {
    messages: [user('Blue?')],
    tools: [tool],
    tool_choice: { type: 'tool', name: 'lookup' },
  },
  'no tool wanted': { messages: [user('Blue?')], tools: [tool], tool_choice: { type: 'none' } },
  'an image': { messages: [user([{ type: 'text', text: 'What is it?' }, image])], system: 'Be short.' },
  'system blocks': {
    messages: [user([{ type: 'text', text: 'Hello!' }])],
    system: [
      { type: 'text', text: 'Be short.' },
      { type: 'text', text: 'Be “kind”.' },
    ],
  },
  'cache markers': {
    messages: [user([{ type: 'text', text: 'Hello!', cache_control: ephemeral }])],
    system: [{ type: 'text', text: 'Be short.', cache_control: ephemeral }],
    tools: [{ ...tool, cache_control: ephemeral }],
  },
  'the persona itself': {
    messages: [user('Hello!')],
    system: [{ type: 'text', text: 'You are a careful and helpful assistant.' }],
  },
  'late system text': { messages: [user('Hello!'), { role: 'system', content: 'Be short.' }, user('Well?')] },
  'system text as the first message': {
    messages: [{ role: 'system', content: 'Be short.' }, user('Hello!')],
  },
  'a form of the answer': {
    messages: [user('Name a colour.')],
    output_config: {
      format: {
        type: 'json_schema',
        schema: { type: 'object', properties: { colour: { type: 'string' } }, additionalProperties: false },
      },
    },
  },
  ...Object.fromEntries(
    [1, 2, 3, 4, 4000].map((length) => [
      `a system text of ${length}`,
      { messages: [user('Hello!')], system: 'é'.repeat(length) },
    ]),
  ),
};

const presets = ['generic', 'openai', 'openrouter', 'deepseek', 'mistral', 'ollama', 'groq'];

describe('the input that an answer begins with', () => {
  let gateway: SlotKinds;
  before(async () => void (gateway = await startKinds({ presets })));
  after(() => gateway.close());

  for (const slot of [...presets, 'responses'])
    describe(`of slot ${slot}`, () => {
      for (const [name, body] of Object.entries(bodies))
        it(`is the number that a token count names, with ${name}`, async () => {
          const fields = { model: 'sonnet-5', max_tokens: 100, ...body };
          const answer = await gateway.ask(slot, '/v1/messages', { ...fields, stream: true });
          const [start] = eventsIn(await answer.text());
          const count = await gateway.ask(slot, '/v1/messages/count_tokens', fields);
          const { message } = start as { message: { usage: { input_tokens: number } } };
          expect(await count.json()).to.deep.equal({ input_tokens: message.usage.input_tokens });
        });
    });
});
