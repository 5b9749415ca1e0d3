import type { Route } from '../../operator/route.js';
import type { Format } from '../../plugin/index.js';
import type { ServedRoute } from '../../plugin/core.js';
import { name, version } from '../../kit/version.js';
import { requestSchema, schemaOrName } from '../../kit/schema/json-schema.js';
import { schemaNames } from '../../operator/schemas.js';
import { namedSchemas, withNames, type DescribedRoute } from './schema.js';
import { operationRoutes } from './operations.js';
import { errorAnswers } from './error-answers.js';
import { describeStageRoutes, v1Routes } from './v1.js';

type Json = Readonly<Record<string, unknown>>;

/** Address of a gateway for its callers, and the cookie of the console's sessions there. */
export interface ServedPlace {
  /** Its base path: `/llm`; empty for none. */
  readonly basePath: string;
  readonly sessionCookie: string;
}

/** The OpenAPI 3.1 document of all routes, built from the schemas that check requests. */
export function openApiDocument(
  formats: readonly Format[],
  stageRoutes: readonly ServedRoute[],
  operatorRoutes: readonly Route[],
  place: ServedPlace,
): Json {
  const served = describeStageRoutes(stageRoutes, formats);
  const routes = [...v1Routes(formats), ...served, ...operationRoutes, ...operatorRoutes.map(describeRoute)];
  const names = { formats: formats.map(({ name: format }) => format) };
  return {
    openapi: '3.1.0',
    info: { title: name, version, description, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: place.basePath || '/' }],
    tags: Object.entries(tags).map(([tag, text]) => ({ name: tag, description: text })),
    paths: pathsOf(routes, names),
    components: {
      schemas: { Error: errorSchema, ...namedSchemas() },
      securitySchemes: securitySchemes(place),
    },
  };
}

const description =
  'An LLM gateway. Every path under /v1 is also served without that prefix. Every error is the error object.';

const tags = {
  requests: 'Requests to models, in all formats.',
  catalog: 'Available models, and how much of the limits is left.',
  health: 'For load balancers and monitors.',
  plugins: 'Routes added by the stages of this gateway.',
  admin: 'For scripts of the operator.',
  panel: 'Routes behind the console.',
};

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['type', 'code', 'message'],
      properties: {
        type: { type: 'string' },
        code: { type: 'string' },
        message: { type: 'string' },
        param: { type: ['string', 'null'], description: 'On OpenAI paths: the field at fault.' },
        details: { description: "The upstream's own, if it sent them." },
      },
    },
    type: { const: 'error', description: 'On Messages paths.' },
    request_id: { type: 'string', description: 'On Messages paths.' },
  },
};

function securitySchemes({ sessionCookie }: ServedPlace): Json {
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'The master key, a protocol key or an admin token.',
    },
    apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
    session: { type: 'apiKey', in: 'cookie', name: sessionCookie },
    csrf: {
      type: 'apiKey',
      in: 'header',
      name: 'x-csrf-token',
      description: `Value of the cookie ${sessionCookie.replace('session', 'csrf')}.`,
    },
  };
}

const key: readonly Json[] = [{ bearer: [] }, { apiKey: [] }];

/** Security schemes of a route; a change by a session also needs its CSRF token. */
function securityOf({ access, method }: DescribedRoute): readonly Json[] {
  if (access === 'open') return [];
  if (access !== 'panel') return key;
  return [...key, method === 'GET' ? { session: [] } : { session: [], csrf: [] }];
}

/** A route for operators: scripts call those of `/admin`, the console the others. */
function describeRoute(route: Route): DescribedRoute {
  const { method, path, summary, scope, isOpen, query, body, bodySchema = body, answers } = route;
  const { answerType, otherAnswerType, answersItself } = route;
  return {
    method,
    path,
    tag: scope === undefined ? 'panel' : 'admin',
    summary,
    access: scope !== undefined ? 'admin' : isOpen ? 'open' : 'panel',
    answers,
    ...(scope !== undefined && { scope }),
    ...(query && { query }),
    ...(bodySchema && { body: bodySchema }),
    ...(answerType !== undefined && { answerTypes: [answerType] }),
    ...(otherAnswerType !== undefined && { answerTypes: ['application/json', otherAnswerType] }),
    ...(answersItself && { hasErrorPages: answersItself }),
  };
}

/** Names that schemas leave to the gateway, by their keyword `names`. */
type KnownNames = Readonly<Record<string, readonly string[]>>;

function pathsOf(routes: readonly DescribedRoute[], names: KnownNames): Json {
  const paths = new Map<string, Record<string, unknown>>();
  for (const route of routes) {
    const path = templateOf(route.path);
    const operations = paths.get(path) ?? {};
    paths.set(path, operations);
    operations[route.method.toLowerCase()] = operationOf(route, names);
  }
  return Object.fromEntries(paths);
}

/** `/v1/models/{id}` of a router's path; an escaped character stands for itself. */
function templateOf(path: string): string {
  return path.replaceAll(
    /\\(.)|:(\w+)/g,
    (_, literal?: string, parameter?: string) => literal ?? `{${parameter}}`,
  );
}

function operationOf(route: DescribedRoute, names: KnownNames): Json {
  const { tag, summary, body, scope } = route;
  const content = body && { 'application/json': { schema: requestSchema(body) } };
  const parameters = [...pathParameters(route), ...queryParameters(route, names), ...headerParameters(route)];
  return {
    operationId: operationIdOf(route),
    tags: [tag],
    summary,
    ...(scope !== undefined && { description: `Admin tokens need the scope \`${scope}\`.` }),
    security: securityOf(route),
    ...(parameters.length > 0 && { parameters }),
    ...(content && { requestBody: { required: true, content } }),
    responses: { ...answersOf(route), ...errorAnswers(route) },
  };
}

/** Operation id such as `postPanelSlotsIdPause`. */
function operationIdOf({ method, path }: DescribedRoute): string {
  const words = path.split(/\W+/).filter((word) => word !== '' && word !== 'v1' && word !== 'api');
  const capitalized = (words.length > 0 ? words : ['root']).map(
    (word) => word.charAt(0).toUpperCase() + word.slice(1),
  );
  return `${method.toLowerCase()}${capitalized.join('')}`;
}

function pathParameters({ path }: DescribedRoute): readonly Json[] {
  return [...path.matchAll(/(?<!\\):(\w+)/g)].map(([, parameter]) => ({
    name: parameter,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters({ query }: DescribedRoute, names: KnownNames): readonly Json[] {
  const { properties = {}, required = [] } = (query ? requestSchema(query) : {}) as QuerySchema;
  return Object.entries(properties).map(([parameter, schema]) => {
    const { description: text, ...rest } = schema;
    return {
      name: parameter,
      in: 'query',
      required: required.includes(parameter),
      schema: withNames(rest, names),
      ...(text !== undefined && { description: text }),
    };
  });
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

function headerParameters({ headers = {} }: DescribedRoute): readonly Json[] {
  return Object.entries(headers).map(([header, text]) => ({
    name: header,
    in: 'header',
    required: false,
    description: text,
    schema: { type: 'string' },
  }));
}

function answersOf({ answers, answerTypes = ['application/json'] }: DescribedRoute): Json {
  const entries = Object.entries(answers).map(([status, schema]) => {
    const text = statusTexts[Number(status)] ?? 'An answer.';
    if (schema === null) return [status, { description: text }] as const;
    const content = Object.fromEntries(
      answerTypes.map((type) => [type, { schema: schemaFor(type, schema) }]),
    );
    return [status, { description: text, content }] as const;
  });
  return Object.fromEntries(entries);
}

function schemaFor(type: string, schema: object): Json {
  return type === 'application/json' ? schemaOrName(schema, schemaNames) : { type: 'string' };
}

const statusTexts: Readonly<Record<number, string>> = {
  101: 'A WebSocket.',
  200: 'The answer.',
  201: 'The created item.',
  204: 'Done.',
  503: 'Not ready.',
};
