import { responsesBody } from '../formats/responses/body.js';
import { Type } from '../plugin/index.js';
import type { DescribedRoute } from './described-route.js';

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const Items = Type.Array(Type.Record(Text, Type.Unknown()));
const IdOrNull = Type.Union([Text, Type.Null()]);

export const ResponsesReply = Type.Object({
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

const shared = { tag: 'requests', access: 'key' } as const;

/** Routes of `/v1/responses/*`. */
export const responseRoutes: readonly DescribedRoute[] = [
  {
    ...shared,
    method: 'POST',
    path: '/v1/responses/input_tokens',
    summary: 'A token count of a Responses body.',
    body: responsesBody,
    answers: {
      200: Type.Object({ object: Type.Literal('response.input_tokens'), input_tokens: Count }),
    },
  },
  {
    ...shared,
    method: 'GET',
    path: '/v1/responses/:id',
    summary: 'A stored response, or its events.',
    query: Type.Object({
      stream: Type.Optional(Type.Boolean({ description: 'As server-sent events.' })),
      starting_after: Type.Optional(
        Type.Integer({ minimum: 0, description: 'Events up to this sequence number are left out.' }),
      ),
    }),
    answers: { 200: ResponsesReply },
    answerTypes: ['application/json', 'text/event-stream'],
  },
  {
    ...shared,
    method: 'DELETE',
    path: '/v1/responses/:id',
    summary: 'Deletes a stored response.',
    answers: {
      200: Type.Object({ id: Text, object: Type.Literal('response'), deleted: Type.Literal(true) }),
    },
  },
  {
    ...shared,
    method: 'GET',
    path: '/v1/responses/:id/input_items',
    summary: 'The input items that have led to a stored response, page by page.',
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      order: Type.Optional(Type.Enum(['asc', 'desc'])),
      after: Type.Optional(Type.String({ description: 'The id of the last item of the page before.' })),
    }),
    answers: { 200: InputItems },
  },
  {
    ...shared,
    method: 'POST',
    path: '/v1/responses/:id/cancel',
    summary: 'Always 400: nothing runs in the background.',
    answers: {},
  },
];
