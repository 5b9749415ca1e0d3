import type { CoreMiddleware } from '../engine/http/exchange.js';
import type { RouteLookup } from '../engine/http/route-table.js';
import type { LoadedRoutes, LoadRoutes } from './loaded-routes.js';
import type { OperatorContext } from './route.js';

/** Routes of `/admin/*`, loaded by the first request that may be for one of them. */
export function adminApi(
  load: LoadRoutes,
  authenticate: (ctx: OperatorContext) => Promise<unknown>,
): RouteLookup & { readonly middleware: CoreMiddleware } {
  let loaded: LoadedRoutes | undefined;
  return {
    // What is not loaded has had no request: `at` is asked about one that has passed `middleware`.
    at: (path) => loaded?.table.at(path) ?? [],
    async middleware(ctx, next) {
      if (!isAdminPath(ctx.path)) return next();
      loaded ??= await load();
      await loaded.table.middleware()(ctx, async () => {
        await authenticate(ctx);
        await next();
      });
    },
  };
}

/** True also for unknown admin paths, in upper or lower case: the router ignores case too. */
function isAdminPath(path: string): boolean {
  return /^\/admin(\/|$)/i.test(path);
}
