import { GatewayError } from '../plugin/index.js';
import type { CoreContext } from './exchange.js';
import { pathParameter } from './path-parameter.js';
import type { Serving } from './serving.js';

/** `GET /v1/responses/:id`: the response object as its owner got it. */
export const showResponse = (serving: Serving) => async (ctx: CoreContext) => {
  const id = pathParameter(ctx, 'id');
  const stored = await serving.store.responses.get(ownerOf(ctx), id);
  if (!stored) throw unknownResponse(id);
  ctx.body = stored.response;
};

/** `DELETE /v1/responses/:id`. */
export const deleteResponse = (serving: Serving) => async (ctx: CoreContext) => {
  const id = pathParameter(ctx, 'id');
  if (!(await serving.store.responses.delete(ownerOf(ctx), id))) throw unknownResponse(id);
  ctx.body = { id, object: 'response', deleted: true };
};

function ownerOf(ctx: CoreContext): string {
  return ctx.state.caller?.keyId ?? '';
}

function unknownResponse(id: string): GatewayError {
  return new GatewayError('not_found', `Response with id '${id}' not found.`);
}
