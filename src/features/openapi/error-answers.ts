import { errorCodes } from '../../plugin/core.js';
import type { DescribedRoute } from './schema.js';

type Json = Readonly<Record<string, unknown>>;

/** Error answers of a route by status, with `default` for all others. */
export function errorAnswers(route: DescribedRoute): Json {
  const own = new Set(Object.keys(route.answers).map(Number));
  const statuses = [...new Set(statusesOf(route))].filter((status) => !own.has(status));
  const answer = route.hasErrorPages ? errorPage : errorAnswer;
  const entries = statuses.map((status) => [status, answer(codesOf(status))] as const);
  return { ...Object.fromEntries(entries), default: answer('An error.') };
}

function statusesOf({ access, body, path, method, tag }: DescribedRoute): readonly number[] {
  return [
    ...(access === 'open' ? [] : [401, 403, 503]),
    ...(body ? [400, 408, 413, 415] : []),
    ...(path.includes(':') ? [404] : []),
    ...(tag === 'panel' && method !== 'GET' ? [409] : []),
    ...(tag === 'requests' && method === 'POST' ? [404, 429, 502, 504] : []),
  ];
}

/** Error codes of a status: `model_not_found, not_found`. */
function codesOf(status: number): string {
  const codes = Object.entries(errorCodes).filter(([, known]) => known.status === status);
  return codes.map(([code]) => `\`${code}\``).join(', ');
}

function errorAnswer(description: string): Json {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };
}

function errorPage(description: string): Json {
  return { description, content: { 'text/html': { schema: { type: 'string' } } } };
}
