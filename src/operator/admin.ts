import type { CoreMiddleware } from '../engine/http/exchange.js';
import type { Matcher } from '../engine/http/layers.js';
import type { LoadedRoutes, LoadRoutes } from './loaded-routes.js';
import type { OperatorContext } from './route.js';

/** Routes of `/admin/*`, loaded by the first request that may be for one of them. */
export function adminApi(
  load: LoadRoutes,
  authenticate: (ctx: OperatorContext) => Promise<unknown>,
): Matcher & { readonly middleware: CoreMiddleware } {
  let loaded: LoadedRoutes | undefined;
  return {
    // What is not loaded has had no request: `match` is asked about one that has passed `middleware`.
    match: (path, method) => loaded?.router.match(path, method) ?? { path: [] },
    async middleware(ctx, next) {
      if (!isAdminPath(ctx.path)) return next();
      loaded ??= await load();
      const run = loaded.router.routes() as unknown as CoreMiddleware; // the router's own context type is wider
      await run(ctx, async () => {
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
