import { Readable } from 'node:stream';
import { GatewayError } from '../plugin/index.js';
import type { CoreContext } from './exchange.js';
import { pageOf } from './input-items.js';
import { pathParameter } from './path-parameter.js';
import type { RouteContext } from './route-context.js';

/** `GET /v1/responses/:id`: the response object as its owner got it, or its events where `stream=true`. */
export const showResponse = (serving: RouteContext) => async (ctx: CoreContext) => {
  const id = idIn(ctx);
  const query = queryOf(ctx);
  const isStream = isStreamed(query);
  const startingAfter = startIn(query);
  const response = await serving.store.responses.getResponse(ownerOf(ctx), id);
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
  ctx.body = Readable.from(serving.responseViews.replay(response, startingAfter));
};

/** `GET /v1/responses/:id/input_items`: a page of what has led to the response. */
export const listInputItems = (serving: RouteContext) => async (ctx: CoreContext) => {
  const id = pathParameter(ctx, 'id');
  const stored = await serving.store.responses.get(ownerOf(ctx), id);
  if (!stored) throw unknownResponse(id);
  ctx.body = pageOf(serving.responseViews.listedInput(stored), queryOf(ctx));
};

/** `POST /v1/responses/:id/cancel`. */
export const cancelResponse = (ctx: CoreContext): void => {
  const id = pathParameter(ctx, 'id');
  if (isRouteName(id)) throw unknownResponse(id);
  throw new GatewayError(
    'invalid_request',
    `Response with id '${id}' cannot be cancelled: this gateway runs nothing in the background. To cancel a response, close its connection.`,
  );
};

/** `DELETE /v1/responses/:id`. */
export const deleteResponse = (serving: RouteContext) => async (ctx: CoreContext) => {
  const id = idIn(ctx);
  if (!(await serving.store.responses.delete(ownerOf(ctx), id))) throw unknownResponse(id);
  ctx.body = { id, object: 'response', deleted: true };
};

/** Id in the path. Throws `method_not_allowed` if it is the name of a route that takes only POST. */
function idIn(ctx: CoreContext): string {
  const id = pathParameter(ctx, 'id');
  if (!isRouteName(id)) return id;
  const message = `${ctx.path} does not take ${ctx.method}; it takes POST.`;
  throw new GatewayError('method_not_allowed', message, { headers: { allow: 'POST, OPTIONS' } });
}

/** The router does not look at the case of a path either. */
function isRouteName(id: string): boolean {
  return id.toLowerCase() === 'input_tokens';
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

function queryOf(ctx: CoreContext): URLSearchParams {
  return new URLSearchParams(ctx.querystring);
}

function ownerOf(ctx: CoreContext): string {
  return ctx.state.caller?.keyId ?? '';
}

function unknownResponse(id: string): GatewayError {
  return new GatewayError('not_found', `Response with id '${id}' not found.`);
}
