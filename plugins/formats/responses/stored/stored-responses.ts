import { Readable } from 'node:stream';
import { GatewayError } from '@gw2api/gateway/plugin';
import type { FormatContext, FormatRoute } from '@gw2api/gateway/plugin/format';
import { listedInput } from './listed-input.js';
import { replayResponse } from './replay.js';

type Handle = NonNullable<FormatRoute['handle']>;
type Context = Parameters<Handle>[0];

/** `GET /v1/responses/:id`: the response object as its owner got it, or its events where `stream=true`. */
export const showResponse: Handle = async (ctx, { params, query, store, caller }) => {
  const id = idIn(ctx, params);
  const isStream = isStreamed(query);
  const startingAfter = startIn(query);
  const response = await store.responses.getResponse(caller.keyId, id);
  if (!response) throw unknownResponse(id);
  if (!isStream) {
    ctx.body = response;
    return;
  }
  ctx.set({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  ctx.body = Readable.from(replayResponse(response, startingAfter));
};

/** `GET /v1/responses/:id/input_items`: a page of the response's input. */
export const listInputItems: Handle = async (ctx, { params, query, store, caller }) => {
  const { id = '' } = params;
  const stored = await store.responses.get(caller.keyId, id);
  if (!stored) throw unknownResponse(id);
  ctx.body = pageOf(listedInput(stored), query);
};

/** `POST /v1/responses/:id/cancel`. */
export const cancelResponse: Handle = (_, { params }) => {
  const { id = '' } = params;
  if (isRouteName(id)) throw unknownResponse(id);
  throw new GatewayError(
    'invalid_request',
    `Response with id '${id}' cannot be cancelled: this gateway runs nothing in the background. To cancel a response, close its connection.`,
  );
};

/** `DELETE /v1/responses/:id`. */
export const deleteResponse: Handle = async (ctx, { params, store, caller }) => {
  const id = idIn(ctx, params);
  if (!(await store.responses.delete(caller.keyId, id))) throw unknownResponse(id);
  ctx.body = { id, object: 'response', deleted: true };
};

/** Id in the path. Throws `method_not_allowed` if it is the name of a route that takes only POST. */
function idIn(ctx: Context, { id = '' }: FormatContext['params']): string {
  if (!isRouteName(id)) return id;
  const message = `${ctx.path} does not accept ${ctx.method}; it accepts POST.`;
  throw new GatewayError('method_not_allowed', message, { headers: { allow: 'POST, OPTIONS' } });
}

/** Ignores the case of a path, as the router does. */
function isRouteName(id: string): boolean {
  return ['input_tokens', 'compact'].includes(id.toLowerCase());
}

function isStreamed(query: URLSearchParams): boolean {
  const stream = query.get('stream') ?? 'false';
  if (stream === 'true' || stream === 'false') return stream === 'true';
  throw new GatewayError('invalid_request', 'stream: must be true or false');
}

function startIn(query: URLSearchParams): number | undefined {
  const text = query.get('starting_after');
  if (text === null) return undefined;
  const after = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(after + 1)) return after;
  throw new GatewayError('invalid_request', 'starting_after: must be the sequence number of an event');
}

function unknownResponse(id: string): GatewayError {
  return new GatewayError('not_found', `Response with id '${id}' not found.`);
}

/** An item of a list, by whose id a page ends. */
type Item = Readonly<Record<string, unknown>>;

/** A page of a list: `limit`, `order` and `after` as `GET /v1/responses/:id/input_items` takes them. */
function pageOf(items: readonly Item[], query: URLSearchParams): object {
  const ordered = orderOf(query) === 'asc' ? items : items.toReversed();
  const limit = limitOf(query);
  const from = startOf(ordered, query.get('after'));
  const data = ordered.slice(from, from + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: from + limit < ordered.length,
  };
}

function orderOf(query: URLSearchParams): string {
  const order = query.get('order') ?? 'desc';
  if (order === 'asc' || order === 'desc') return order;
  throw new GatewayError('invalid_request', `order: must be "asc" or "desc", not ${JSON.stringify(order)}`);
}

const maxItems = 100;

function limitOf(query: URLSearchParams): number {
  const text = query.get('limit') ?? '20';
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxItems) return limit;
  throw new GatewayError('invalid_request', `limit: must be a whole number from 1 to ${maxItems}`);
}

function startOf(items: readonly Item[], after: string | null): number {
  if (after === null) return 0;
  const at = items.findIndex(({ id }) => id === after);
  if (at >= 0) return at + 1;
  throw new GatewayError('invalid_request', 'after: must be the id of an input item of this response');
}
