import { GatewayError } from '../plugin/index.js';
import type { CoreContext, CoreMiddleware } from '../engine/http/exchange.js';
import { allowedMethods, refuseUnrouted } from '../engine/http/unrouted.js';
import { StoreError } from '../state/store/store-error.js';
import type { LoadedRoutes, LoadRoutes } from './loaded-routes.js';
import type { OperatorContext } from './route.js';

/** Authenticates a caller of the console API. Throws 401, 403 and `store_unavailable`. */
type Authenticate = (ctx: OperatorContext) => Promise<unknown>;

/** Routes of `/api/panel/*`, loaded by the first request to one of them. */
export function consoleApi(load: LoadRoutes, authenticate: Authenticate): CoreMiddleware {
  return async (ctx, next) => {
    if (isPanelPath(ctx.path)) await answerConsole(ctx, await load(), authenticate);
    else await next();
  };
}

/** True also for unknown console paths, in upper or lower case: the router ignores case too. */
function isPanelPath(path: string): boolean {
  return /^\/api\/panel(\/|$)/i.test(path);
}

/** Answers a console request; refuses unknown routes only after authentication. */
async function answerConsole(
  ctx: CoreContext,
  { router }: LoadedRoutes,
  authenticate: Authenticate,
): Promise<void> {
  ctx.set('cache-control', 'no-store');
  ctx.set('x-content-type-options', 'nosniff');
  const operatorContext = ctx as unknown as OperatorContext; // a wider view of the same
  const run = router.routes() as unknown as CoreMiddleware; // likewise
  try {
    await run(ctx, async () => {
      if (ctx.method !== 'OPTIONS') await authenticate(operatorContext);
      refuseUnrouted(ctx, allowedMethods([router], ctx.path));
    });
  } catch (error) {
    // A StoreError explains the problem to the operator, and only the operator calls the console's API.
    if (error instanceof StoreError) throw new GatewayError('conflict', error.message, { cause: error });
    throw error;
  }
}
