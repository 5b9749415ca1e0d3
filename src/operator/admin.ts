import type { Router } from '@koa/router';
import { createAdminRouter, type AdminCaller } from './admin-routes.js';
import type { AdminState } from './admin-route.js';
import { requireScope, type AdminScope } from './access/scopes.js';
import { masterActor } from './access/actor.js';
import type { CoreContext, CoreMiddleware } from '../engine/http/exchange.js';
import type { Matcher } from '../engine/http/layers.js';
import { callerKey } from '../plugin/index.js';
import { requireMasterKey } from './access/master-key.js';
import { operationsOf } from '../features/pipeline/admin-operations.js';
import type { Gateway } from '../gateway/gateway.js';
import type { Services } from '../gateway/services.js';

type AdminKeys = Pick<Services, 'keys' | 'adminTokens'>;

/** Routes of `/admin/*`, built for the first request that may be for one of them. */
export function adminApi(gateway: Gateway): Matcher & { readonly middleware: CoreMiddleware } {
  const { services } = gateway;
  const authenticate = (ctx: Pick<CoreContext, 'headers'>) => adminCaller(ctx, services, '/admin/*');
  let router: Router<AdminState, object> | undefined;
  const built = () =>
    (router ??= createAdminRouter({
      operations: operationsOf(gateway),
      audit: services.audit,
      authenticate,
    }));
  let routes: CoreMiddleware | undefined;
  return {
    match: (path, method) => built().match(path, method),
    async middleware(ctx, next) {
      if (!isAdminPath(ctx.path)) return next();
      routes ??= built().routes() as unknown as CoreMiddleware; // the router's own context type is wider
      await routes(ctx, async () => {
        await authenticate(ctx);
        await next();
      });
    },
  };
}

/** Admits the master key, and admin tokens with a scope. Throws 401, 403 and `store_unavailable`. */
export async function requireAdminScope(ctx: CoreContext, keys: AdminKeys, scope: AdminScope): Promise<void> {
  const { actor, scopes } = await adminCaller(ctx, keys, ctx.path);
  requireScope({ name: actor.name, scopes }, scope);
}

/** Caller with the master key or an admin token; `area` names what was called. */
async function adminCaller(
  { headers }: Pick<CoreContext, 'headers'>,
  { keys, adminTokens }: AdminKeys,
  area: string,
): Promise<AdminCaller> {
  const key = callerKey(headers);
  const token = await adminTokens.check(key);
  if (token) return { actor: { kind: 'token', name: token.name, role: 'admin' }, scopes: token.scopes };
  await requireMasterKey(key, keys, area);
  return { actor: masterActor, scopes: ['*'] };
}

/** True also for unknown admin paths, in upper or lower case: the router ignores case too. */
function isAdminPath(path: string): boolean {
  return /^\/admin(\/|$)/i.test(path);
}
