import { ModelEvent } from '../../../plugin/index.js';
import { changedRequest, requestParts, withContent, type RequestView } from '../../../plugin/remote/index.js';
import { asError } from '../../../kit/time/within.js';
import type { RemoteCheck } from '../check.js';
import { CheckFailure } from '../check-failure.js';
import { answerQuestion, conversation, eventsQuestion, requestQuestion, usage } from '../questions.js';
import type { RemoteServer } from '../remote-server.js';
import { block, end, pieces, start, textAnswer, textBlock, toolBlock } from '../samples.js';
import { review } from '../answer-review.js';

/** Checks of the three phases, and of questions of all shapes. */
export const phaseChecks: readonly RemoteCheck[] = [
  {
    name: 'request',
    rule: 'answers a question about a request',
    run: (server) => aboutRequest(server, { messages: conversation(1) }),
  },
  {
    name: 'answer',
    rule: 'answers a question about an answer',
    run: (server) => aboutAnswer(server, answerQuestion().answer.content),
  },
  {
    name: 'events',
    rule: 'answers a question about the events of an answer',
    run: async (server) => void (await review(server, [textAnswer(['The capital ', 'is Paris.'])])),
  },
  {
    name: 'all-parts',
    rule: 'answers when all parts of a request are sent',
    run: (server) => aboutRequest(server, allParts, { caller, session: 'session-1', headers, context }),
  },
  {
    name: 'no-parts',
    rule: 'answers when no part of the request is sent',
    async run(server) {
      const { request: _, ...question } = requestQuestion();
      await server.ask(question);
      const { request: __, ...others } = answerQuestion();
      await server.ask(others);
    },
  },
  {
    name: 'tool-calls',
    rule: 'answers about tools, thinking, images and types that it does not know',
    async run(server) {
      await aboutRequest(server, { messages: toolMessages });
      await aboutAnswer(server, blocks);
      await review(server, [toolEvents]);
    },
  },
  {
    name: 'empty-answer',
    rule: 'answers about an answer without content, and about no events',
    async run(server) {
      await aboutAnswer(server, []);
      await server.ask(eventsQuestion());
      await review(server, [[...start], [...end()]]);
    },
  },
  {
    name: 'deep-input',
    rule: 'answers about a tool input of 100 levels',
    async run(server) {
      const text = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`;
      const input: unknown = JSON.parse(text);
      await aboutAnswer(server, [{ type: 'tool_use', id: 'toolu_test', name: 'search', input }]);
      await review(server, [[...start, ...toolBlock(0, pieces(text, 100)), ...end('tool_use')]]);
    },
  },
];

const caller = { id: 'key_1', name: 'ci', team: { id: 'team_1', name: 'red' } };
const headers = { 'x-tenant': 'red' };
const context = { policy: 'test' };
const tool = { name: 'search', description: 'Searches.', input_schema: { type: 'object', properties: {} } };
const allParts = {
  messages: conversation(2),
  prediction: { type: 'content', content: 'Paris' },
  system: [{ type: 'text', text: 'Be brief.' }],
  tools: [tool],
  model: 'test-model',
  extras: [{ place: '', extras: { seed: 1 } }],
};

const call = { type: 'tool_use', id: 'toolu_test', name: 'search', input: { query: 'Paris', limit: 5 } };
const thinking = { type: 'thinking', thinking: 'Let me search.', signature: 'c2lnbmVk' };
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } };
const toolMessages = [
  { role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] },
  { role: 'assistant', content: [thinking, call] },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_test', content: [{ type: 'text', text: 'A city.' }] },
      { type: 'later_block', fields: [1] },
    ],
  },
];
const blocks = [thinking, { type: 'text', text: 'I search.' }, call, { type: 'later_block', fields: [1] }];
const toolEvents = [
  ...start,
  ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
    { type: 'thinking_delta', thinking: 'Let me search.' },
    { type: 'signature_delta', signature: 'c2lnbmVk' },
  ]),
  ...textBlock(1, ['I ', 'search.']),
  ...toolBlock(2, ['{"query":', '"Paris"}']),
  ...block(3, { type: 'later_block' }, [{ type: 'later_delta', value: 1 }]),
  ...end('tool_use'),
];

async function aboutRequest(server: RemoteServer, request: RequestView, fields: object = {}): Promise<void> {
  const reply = await server.ask({ ...requestQuestion(), request, ...fields });
  if (reply.verdict !== 'change') return;
  const { extras: _, prediction: __, ...known } = request;
  const parts = requestParts.filter((part) => part in request && part !== 'extras');
  const live = { model: 'test-model', max_tokens: 100, messages: [], ...known };
  validate(() => changedRequest(live as Parameters<typeof changedRequest>[0], parts, reply)); // messages of ours
}

async function aboutAnswer(server: RemoteServer, content: readonly object[]): Promise<void> {
  const answer = { content: [...content], stop_reason: 'end_turn', usage };
  const reply = await server.ask(answerQuestion({ answer }));
  if (reply.verdict !== 'change') return;
  const message = { ...emptyMessage, content } as Parameters<typeof withContent>[1]; // blocks of ours
  validate(() => withContent([ModelEvent.of({ type: 'message_stop' })], message, reply.content));
}

const emptyMessage = {
  id: 'msg_test',
  type: 'message',
  role: 'assistant',
  model: '',
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
};

/** Applies a change. Throws a CheckFailure for a result that is not valid. */
function validate(change: () => unknown): void {
  try {
    change();
  } catch (error) {
    throw new CheckFailure(`its change is not valid: ${asError(error).message}`, { cause: error });
  }
}
