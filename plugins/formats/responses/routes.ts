import { Type } from '@gw2api/gateway/plugin';
import type { FormatRoute } from '@gw2api/gateway/plugin/format';
import { cancelResponse, deleteResponse, listInputItems, showResponse } from './stored/stored-responses.js';

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const Items = Type.Array(Type.Record(Text, Type.Unknown()));
const IdOrNull = Type.Union([Text, Type.Null()]);

const Response = Type.Object({
  id: Text,
  object: Type.Literal('response'),
  created_at: Count,
  model: Text,
  status: Text,
  output: Items,
});

const InputItems = Type.Object({
  object: Type.Literal('list'),
  data: Items,
  first_id: IdOrNull,
  last_id: IdOrNull,
  has_more: Type.Boolean(),
});

const Deleted = Type.Object({ id: Text, object: Type.Literal('response'), deleted: Type.Literal(true) });

const Compaction = Type.Object({
  id: Text,
  object: Type.Literal('response.compaction'),
  created_at: Count,
  output: Items,
  usage: Type.Record(Text, Type.Unknown()),
});

const TokenCount = Type.Object({ object: Type.Literal('response.input_tokens'), input_tokens: Count });

/** Routes of `/v1/responses` and below. */
export const routes: readonly FormatRoute[] = [
  {
    method: 'POST',
    path: '{/v1}/responses',
    operation: 'generate',
    websocket: true,
    openapi: { summary: 'A Responses request.', answers: { 200: Response } },
  },
  {
    method: 'POST',
    path: '{/v1}/responses/input_tokens',
    operation: 'count-tokens',
    openapi: { summary: 'A token count of a Responses body.', answers: { 200: TokenCount } },
  },
  {
    method: 'POST',
    path: '{/v1}/responses/compact',
    operation: 'generate',
    openapi: {
      summary: "Compacts a conversation: the user's messages, and an opaque summary of the rest.",
      answers: { 200: Compaction },
      answerTypes: ['application/json'],
    },
  },
  {
    method: 'GET',
    path: '{/v1}/responses/:id',
    operation: 'route',
    handle: showResponse,
    openapi: {
      summary: 'A stored response, or its events.',
      query: Type.Object({
        stream: Type.Optional(Type.Boolean({ description: 'As server-sent events.' })),
        starting_after: Type.Optional(
          Type.Integer({ minimum: 0, description: 'Events up to this sequence number are left out.' }),
        ),
      }),
      answers: { 200: Response },
      answerTypes: ['application/json', 'text/event-stream'],
    },
  },
  {
    method: 'DELETE',
    path: '{/v1}/responses/:id',
    operation: 'route',
    handle: deleteResponse,
    openapi: { summary: 'Deletes a stored response.', answers: { 200: Deleted } },
  },
  {
    method: 'GET',
    path: '{/v1}/responses/:id/input_items',
    operation: 'route',
    handle: listInputItems,
    openapi: {
      summary: 'The input items behind a stored response, page by page.',
      query: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
        order: Type.Optional(Type.Enum(['asc', 'desc'])),
        after: Type.Optional(Type.String({ description: 'The id of the last item of the previous page.' })),
      }),
      answers: { 200: InputItems },
    },
  },
  {
    method: 'POST',
    path: '{/v1}/responses/:id/cancel',
    operation: 'route',
    handle: cancelResponse,
    openapi: { summary: 'Always 400: nothing runs in the background.', answers: {} },
  },
];
