import { Type, type Format } from '../../plugin/index.js';
import type { FormatRoute } from '../../plugin/format/index.js';
import type { RoutePath, ServedRoute } from '../../plugin/core.js';
import type { DescribedRoute } from './schema.js';

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });

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

const TokenCount = Type.Union([Type.Object({ input_tokens: Count }), UsageWindows]);

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
  max_input_tokens: Type.Union([Count, Type.Null()]),
  lifecycle: Type.Literal('active'),
  line: Type.Null(),
  deprecated_at: Type.Null(),
  retires_at: Type.Null(),
  capabilities: Type.Null(),
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
  'x-request-id': 'Echoed in the answer.',
};

const called = ['application/json', 'text/event-stream'];

/** Routes of the formats, and of the catalog. */
export function v1Routes(formats: readonly Format[]): readonly DescribedRoute[] {
  return [...formats.flatMap(routesOf), ...catalogRoutes];
}

function routesOf({ body, routes }: Format): readonly DescribedRoute[] {
  return routes.flatMap((route) => callRoute(route, body));
}

/** A route with the request body of its format; nothing if it has no description. */
function callRoute(
  { method, path, operation, openapi, websocket }: RoutePath & Pick<FormatRoute, 'operation' | 'websocket'>,
  body: object,
): readonly DescribedRoute[] {
  if (!openapi) return [];
  const { summary, query, answers = defaultAnswers(operation), answerTypes } = openapi;
  const isCall = operation === 'generate';
  const types = answerTypes ?? (isCall ? called : undefined);
  return [
    {
      method,
      path: plainPath(path),
      tag: 'requests',
      access: 'key',
      summary,
      answers,
      ...(query && { query }),
      ...(operation !== 'route' && { body }),
      ...(isCall && { headers: requestHeaders }),
      ...(types && { answerTypes: types }),
    },
    ...(websocket ? [webSocketRoute(path)] : []),
  ];
}

/** Answers of a route whose description has none. */
function defaultAnswers(operation: ServedRoute['operation']): Readonly<Record<number, object>> {
  return { 200: operation === 'count-tokens' ? TokenCount : Type.Unknown() };
}

/** Handshake of a path that is served over WebSocket too. */
function webSocketRoute(path: string): DescribedRoute {
  return {
    method: 'GET',
    path: plainPath(path),
    tag: 'requests',
    access: 'key',
    summary:
      'A WebSocket, with an upgrade: each text message is the body of a POST to this path, with `type`; each event of the answer is a message.',
    answers: { 101: null },
  };
}

/** Routes that stages have brought with a description. */
export function describeStageRoutes(
  routes: readonly ServedRoute[],
  formats: readonly Format[],
): readonly DescribedRoute[] {
  return routes.flatMap((route): readonly DescribedRoute[] => {
    const { method, path, operation, auth, openapi } = route;
    const format = formats.find(({ name }) => name === route.format);
    if (format && (operation === 'generate' || operation === 'count-tokens'))
      return callRoute({ ...route, operation }, format.body);
    if (!openapi) return [];
    const { summary, query, body, answers = defaultAnswers(operation), answerTypes } = openapi;
    return [
      {
        method,
        path: plainPath(path),
        tag: 'plugins',
        access: accessOf[auth],
        summary,
        answers,
        ...(query && { query }),
        ...(body && { body }),
        ...(answerTypes && { answerTypes }),
      },
    ];
  });
}

const accessOf = { caller: 'key', master: 'panel', none: 'open' } as const;

/** A path with its optional parts. */
function plainPath(path: string): string {
  return path.replaceAll(/[{}]/g, '');
}

const catalogRoutes: readonly DescribedRoute[] = [
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
];
