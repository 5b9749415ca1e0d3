import { badRequest } from './refusal.js';
import { isObject } from './rules/shape.js';

/** Call of Vertex AI, as the equivalent call of the Messages API. */
export interface VertexCall {
  /** Path of the Messages API. */
  readonly path: string;
  /** Body of the Messages API. Throws a Refusal for one that lacks the version. */
  body(given: unknown): unknown;
}

/** Call of Vertex AI that a path names; undefined for other paths. */
export function vertexCall(path: string): VertexCall | undefined {
  const [, name, method] = callPattern.exec(path) ?? [];
  if (name === undefined) return undefined;
  if (name === countName) return { path: '/v1/messages/count_tokens', body: withoutVersion };
  const model = decodeURIComponent(name);
  const stream = method === 'streamRawPredict';
  return {
    path: '/v1/messages',
    body(given) {
      const body = withoutVersion(given);
      if (!isObject(body)) return body;
      if ('model' in body) throw badRequest('model: Extra inputs are not permitted');
      return { ...body, model, stream: stream && body['stream'] === true };
    },
  };
}

const callPattern =
  /^(?:\/v1)?\/projects\/[^/]+\/locations\/[^/]+\/publishers\/anthropic\/models\/([^/]+):(streamRawPredict|rawPredict)$/;
const countName = 'count-tokens';

function withoutVersion(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { anthropic_version: version, ...rest } = body;
  if (typeof version !== 'string') throw badRequest('anthropic_version: Field required');
  return rest;
}
