import { GatewayError } from '../plugin/index.js';
import type { CoreContext, CoreMiddleware } from '../engine/http/exchange.js';
import { allowedMethods, refuseUnrouted } from '../engine/http/unrouted.js';
import { StoreError } from '../state/store/store-error.js';
import type { LoadedRoutes, LoadRoutes } from './loaded-routes.js';
import type { OperatorContext } from './route.js';

/** Authenticates a caller of the panel API. Throws 401, 403 and `store_unavailable`. */
type Authenticate = (ctx: OperatorContext) => Promise<unknown>;

/** Routes of `/api/panel/*`, loaded by the first request to one of them. */
export function panelApi(load: LoadRoutes, authenticate: Authenticate): CoreMiddleware {
  return async (ctx, next) => {
    if (isPanelPath(ctx.path)) await answerPanel(ctx, await load(), authenticate);
    else await next();
  };
}

/** True also for unknown panel paths, in upper or lower case: the router ignores case too. */
function isPanelPath(path: string): boolean {
  return /^\/api\/panel(\/|$)/i.test(path);
}

/** Answers a panel request; refuses unknown routes only after authentication. */
async function answerPanel(
  ctx: CoreContext,
  { table }: LoadedRoutes,
  authenticate: Authenticate,
): Promise<void> {
  ctx.set('cache-control', 'no-store');
  ctx.set('x-content-type-options', 'nosniff');
  const operatorContext = ctx as unknown as OperatorContext; // a wider view of the same
  try {
    await table.middleware()(ctx, async () => {
      if (ctx.method !== 'OPTIONS') await authenticate(operatorContext);
      refuseUnrouted(ctx, allowedMethods([table], ctx.path));
    });
  } catch (error) {
    // A StoreError explains the problem to the operator, and only the operator calls the panel.
    if (error instanceof StoreError) throw new GatewayError('conflict', error.message, { cause: error });
    throw error;
  }
}
