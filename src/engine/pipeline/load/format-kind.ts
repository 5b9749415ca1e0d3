import { formatForm, isRequestHeader, routeMethods } from '../../../plugin/core.js';
import type { Format } from '../../../plugin/index.js';
import type { FormatRoute } from '../../../plugin/format/index.js';
import { checkFields, type PluginKind } from './load-plugin.js';
import { isPattern } from '../order/route-owners.js';

/** Formats: the result of `defineFormat` or a similar object. */
export const formatKind: PluginKind<Format> = {
  folder: 'formats',
  expected: 'a format',
  fields: 'name, routes, decode and encoder',
  define(exported) {
    if (!isDefinition(exported)) return undefined;
    checkFields(exported, formatForm);
    const format = formatForm.normalize(exported);
    format.routes.forEach(checkRoute);
    checkKeyHeader(format.keyHeader);
    return format;
  },
};

function checkRoute(route: FormatRoute): void {
  const { method, path, operation } = route;
  if (!methods.has(method) || !isPattern(path))
    throw new Error(`has a route that cannot be read: ${JSON.stringify({ method, path })}`);
  if (!operations.includes(operation))
    throw new Error(`has ${path} for the unknown operation "${operation}"; known: ${operations.join(', ')}`);
  if (route.websocket && (method !== 'POST' || operation !== 'generate'))
    throw new Error(`has ${path} with websocket, which only POST routes for "generate" may have`);
  if (operation === 'route' && typeof route.handle !== 'function')
    throw new Error(`has ${path} without a handle to answer it`);
}

/** Refuses headers that cannot carry a key: those with another meaning, and those that go to upstreams. */
function checkKeyHeader(name: unknown): void {
  if (name === undefined) return;
  const isFree = typeof name === 'string' && isRequestHeader(name, '') && !taken.test(name);
  if (!isFree)
    throw new Error(
      `has the keyHeader ${JSON.stringify(name)}, which cannot hold a key; name a header such as "x-goog-api-key"`,
    );
}

const taken = /^(?:host|cookie|accept.*|content-.*|anthropic-.*|x-gw-.*)$/i;

const methods: ReadonlySet<unknown> = new Set(routeMethods);
const operations: readonly unknown[] = ['generate', 'count-tokens', 'route'];

type Definition = Parameters<typeof formatForm.normalize>[0];

function isDefinition(value: unknown): value is Definition {
  const { name, routes, decode, encoder } = Object(value) as Partial<Definition>; // any object has properties
  return (
    typeof name === 'string' &&
    Array.isArray(routes) &&
    typeof decode === 'function' &&
    typeof encoder === 'function'
  );
}
