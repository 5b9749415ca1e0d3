import { Router } from '@koa/router';
import type { Audit } from '../state/audit/audit.js';
import { AuditedAction } from '../state/audit/audited-action.js';
import type { Actor } from '../state/store/contract/actor.js';
import type { Operations } from '../features/pipeline/operations.js';
import type { AdminContext, AdminRoute, AdminState } from './admin-route.js';
import { adminRoutes } from '../features/pipeline/admin.js';
import { requireScope } from './access/scopes.js';

/** Caller of `/admin/*`, with the scopes of its token; the master key has all. */
export interface AdminCaller {
  readonly actor: Actor;
  readonly scopes: readonly string[];
}

interface AdminParts {
  readonly operations: Operations;
  readonly audit: Audit;
  /** Throws 401, 403 and `store_unavailable`. */
  readonly authenticate: (ctx: AdminContext) => Promise<AdminCaller>;
}

/** Router of `/admin/*`. */
export function createAdminRouter(parts: AdminParts): Router<AdminState, object> {
  const router = new Router<AdminState, object>({ prefix: '/admin' });
  for (const each of adminRoutes) router.register(each.path, [each.method], answer(each, parts));
  return router;
}

/** Handler of a route: admits the caller, and records what is no read in the audit log. */
function answer(route: AdminRoute, { operations, audit, authenticate }: AdminParts) {
  return async (ctx: AdminContext): Promise<void> => {
    const { actor, scopes } = await authenticate(ctx);
    ctx.state.actor = actor;
    const id = idOf(ctx);
    const work = (action: AuditedAction): unknown => {
      requireScope({ name: actor.name, scopes }, route.scope);
      return route.handle({ id, ctx, operations, audit: action });
    };
    if (route.method === 'GET') ctx.body = await work(new AuditedAction());
    else {
      const { audit: action, noted } = route;
      const { log, requestId } = ctx.state;
      const terms = { action, noted, actor, target: id, address: ctx.ip, requestId, log };
      ctx.body = await audit.run(terms, work);
    }
  };
}

function idOf(ctx: AdminContext): string {
  const { params } = ctx as AdminContext & { params?: Readonly<Record<string, string>> }; // set by the router
  return params?.['id'] ?? '';
}
