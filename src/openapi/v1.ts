import { Type } from '../plugin/index.js';
import { chatBody } from '../formats/chat/body.js';
import { completionsBody } from '../formats/completions/request.js';
import { messagesBody } from '../formats/messages/body.js';
import { responsesBody } from '../formats/responses/body.js';
import type { DescribedRoute } from './described-route.js';
import { responseRoutes, ResponsesReply } from './responses.js';

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const Items = Type.Array(Type.Record(Text, Type.Unknown()));
const Usage = Type.Record(Text, Type.Unknown());

const MessagesReply = Type.Object({
  id: Text,
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Text,
  content: Items,
  stop_reason: Type.Union([Text, Type.Null()]),
  usage: Usage,
});

const ChatReply = Type.Object({
  id: Text,
  object: Type.Literal('chat.completion'),
  created: Count,
  model: Text,
  choices: Items,
  usage: Usage,
});

const CompletionsReply = Type.Object({
  id: Text,
  object: Type.Literal('text_completion'),
  created: Count,
  model: Text,
  choices: Items,
  usage: Usage,
});

const Window = Type.Union([
  Type.Object({ percent_used: Type.Number(), resets_at: Type.String({ format: 'date-time' }) }),
  Type.Null(),
]);

const UsageWindows = Type.Object({
  object: Type.Literal('usage'),
  unit: Type.Literal('percent_used'),
  account: Text,
  '5h': Window,
  '7d': Window,
});

const Model = Type.Object({
  id: Text,
  object: Type.Literal('model'),
  type: Type.Literal('model'),
  created: Count,
  created_at: Type.String({ format: 'date-time' }),
  owned_by: Text,
  display_name: Text,
  max_tokens: Count,
  context_window: Type.Union([Count, Type.Null()]),
});

const IdOrNull = Type.Union([Text, Type.Null()]);

const ModelList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Model),
  has_more: Type.Boolean(),
  first_id: IdOrNull,
  last_id: IdOrNull,
});

const requestHeaders = {
  'x-session-id':
    'Keeps the requests of a session on one slot; also x-conversation-id, x-claude-code-session-id.',
  'x-gw-delivery': '`verified`: buffer until the answer is complete, then answer with one body.',
  'x-gw-cache-ttl': '`5m`: shorten the lifetime of cache markers from the default of one hour.',
  'x-gw-web-search': '`false`: do not add a web_search tool.',
  'x-request-id': 'Comes back on the answer.',
};

const streamed = { answerTypes: ['application/json', 'text/event-stream'], headers: requestHeaders };

/** Routes of `/v1/*`. */
export const v1Routes: readonly DescribedRoute[] = [
  {
    method: 'POST',
    path: '/v1/messages',
    tag: 'requests',
    access: 'key',
    summary: 'A Messages request.',
    body: messagesBody,
    answers: { 200: MessagesReply },
    ...streamed,
  },
  {
    method: 'POST',
    path: '/v1/chat/completions',
    tag: 'requests',
    access: 'key',
    summary: 'A Chat Completions request.',
    body: chatBody,
    answers: { 200: ChatReply },
    ...streamed,
  },
  {
    method: 'POST',
    path: '/v1/responses',
    tag: 'requests',
    access: 'key',
    summary: 'A Responses request.',
    body: responsesBody,
    answers: { 200: ResponsesReply },
    ...streamed,
  },
  {
    method: 'POST',
    path: '/v1/completions',
    tag: 'requests',
    access: 'key',
    summary: 'A Completions request.',
    body: completionsBody,
    answers: { 200: CompletionsReply },
    ...streamed,
  },
  {
    method: 'POST',
    path: '/v1/messages/count_tokens',
    tag: 'requests',
    access: 'key',
    summary: 'A token count; for OAuth accounts the usage windows.',
    body: messagesBody,
    answers: { 200: Type.Union([Type.Object({ input_tokens: Count }), UsageWindows]) },
  },
  {
    method: 'GET',
    path: '/v1/models',
    tag: 'catalog',
    access: 'key',
    summary: 'The model catalog.',
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      after_id: Type.Optional(Text),
      before_id: Type.Optional(Text),
    }),
    answers: { 200: ModelList },
  },
  {
    method: 'GET',
    path: '/v1/models/:id',
    tag: 'catalog',
    access: 'key',
    summary: 'A model by id or alias.',
    answers: { 200: Model },
  },
  {
    method: 'GET',
    path: '/v1/usage',
    tag: 'catalog',
    access: 'key',
    summary: "The 5-hour and 7-day windows of the caller's OAuth account.",
    answers: { 200: UsageWindows },
  },
  ...responseRoutes,
];
