import { lazy, once } from '../kit/once.js';
import type { Operators } from '../gateway/app.js';
import type { Gateway } from '../gateway/gateway.js';
import { adminCaller, requireAdminScope, type AdminCaller } from './access/admin-caller.js';
import { Sessions } from './access/sessions.js';
import { Names } from './names.js';
import type { OperatorContext, Route, Caller, OperatorState } from './route.js';
import type { RouteSource, SharedServices } from './route-source.js';
import type { CoreMiddleware, CoreContext } from '../engine/http/exchange.js';
import { RouteTable, type RouteLookup } from '../engine/http/route-table.js';
import { GatewayError } from '../plugin/index.js';
import { allowedMethods, refuseUnrouted } from '../engine/http/unrouted.js';
import { StoreError } from '../state/store/store-error.js';
import { isRead, requireRole } from './access/actor.js';
import type { RouteContext } from '../engine/http/route-context.js';
import type { Services } from '../gateway/services.js';
import { answer } from './answer.js';

interface OperatorApi extends Operators {
  /** All routes of `/admin` and of `/api/panel`. */
  readonly routes: () => Promise<readonly Route[]>;
}

/** APIs for the operators of a gateway, with the routes of its features. */
export function openOperators(gateway: Gateway, features: readonly RouteSource[]): OperatorApi {
  const { services } = gateway;
  const shared = shareWithin(gateway);
  const authenticate = ({ headers }: Pick<OperatorContext, 'headers'>) =>
    adminCaller(headers, services, '/admin/*');
  const authenticatePerson = (ctx: OperatorContext) => shared().sessions.authenticate(ctx);
  const sources = [overview, ...features];
  const parts = { gateway, shared, sources, authenticate };
  const [loadAdmin, loadConsole] = [routeLoader('admin', parts), routeLoader('panel', parts)];
  const admin = adminApi(loadAdmin, authenticate);
  return {
    middleware: [admin.middleware, consoleApi(loadConsole, authenticatePerson)],
    tables: [admin],
    asOperator: asOperator(services, authenticatePerson),
    authorizeMetrics: (ctx) => requireAdminScope(ctx, services, 'metrics'),
    async routes() {
      const loaded = await Promise.all([loadAdmin(), loadConsole()]);
      return loaded.flatMap(({ routes }) => routes);
    },
  };
}

/** Routes about the gateway as a whole. */
const overview: RouteSource = { panel: async () => (await import('./status.js')).overviewRoutes };

/** Shared services of a gateway, opened at the first call. */
function shareWithin(gateway: Gateway): () => SharedServices {
  return lazy(() => ({
    sessions: new Sessions(gateway),
    names: new Names(gateway.services.store, gateway.services.now),
  }));
}

/** Routes of `/admin/*`, loaded by the first request that may be for one of them. */
function adminApi(
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
      await loaded.table.middleware(ctx, async () => {
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

/** Authenticates a caller of the console API. Throws 401, 403 and `store_unavailable`. */
type Authenticate = (ctx: OperatorContext) => Promise<unknown>;

/** Routes of `/api/panel/*`, loaded by the first request to one of them. */
function consoleApi(load: LoadRoutes, authenticate: Authenticate): CoreMiddleware {
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
  { table }: LoadedRoutes,
  authenticate: Authenticate,
): Promise<void> {
  ctx.set('cache-control', 'no-store');
  ctx.set('x-content-type-options', 'nosniff');
  const operatorContext = ctx as unknown as OperatorContext; // a wider view of the same
  try {
    await table.middleware(ctx, async () => {
      if (ctx.method !== 'OPTIONS') await authenticate(operatorContext);
      refuseUnrouted(ctx, allowedMethods([table], ctx.path));
    });
  } catch (error) {
    // A StoreError explains the problem to the operator, and only the operator calls the console's API.
    if (error instanceof StoreError) throw new GatewayError('conflict', error.message, { cause: error });
    throw error;
  }
}

/**
 * Runs routes of stages for operators; the audit log identifies a change by the request's path, without its query.
 */
function asOperator(
  { audit }: Pick<Services, 'audit'>,
  authenticate: (ctx: OperatorContext) => Promise<Caller>,
): RouteContext['asOperator'] {
  return async (ctx, stage, work) => {
    const admitted = async (): Promise<void> => {
      const { actor } = await authenticate(ctx);
      requireRole(actor, ctx);
      await work();
    };
    if (isRead(ctx.method)) return admitted();
    const { log, requestId } = ctx.state;
    const target = `${ctx.method} ${ctx.path}`;
    const terms = { action: 'stage.call', target, address: ctx.ip, requestId, log, noted };
    return audit.run(terms, async (action) => {
      action.note({ stage });
      try {
        await admitted();
      } finally {
        action.actor = ctx.state.actor;
      }
      if (ctx.status >= 400) action.refuse(`status_${ctx.status}`);
    });
  };
}

const noted = 'An operator has called a route of a stage.';

/** Routes of one kind, with the table that finds them. */
interface LoadedRoutes {
  readonly table: RouteTable<OperatorState>;
  readonly routes: readonly Route[];
}

/** Loads the routes of one kind at the first call. */
type LoadRoutes = () => Promise<LoadedRoutes>;

interface LoadParts {
  readonly gateway: Gateway;
  readonly shared: () => SharedServices;
  readonly sources: readonly RouteSource[];
  readonly authenticate: (ctx: OperatorContext) => Promise<AdminCaller>;
}

/** Loader of the routes of one kind. */
function routeLoader(kind: keyof RouteSource, parts: LoadParts): LoadRoutes {
  return once(async () => {
    const { gateway, shared, sources, authenticate } = parts;
    const makers = await Promise.all(sources.map(async (source) => source[kind]?.()));
    const routes = makers.flatMap((routesOf) => routesOf?.(gateway, shared()) ?? []);
    const access = { sessions: shared().sessions, audit: gateway.services.audit, authenticate };
    const table = new RouteTable<OperatorState>();
    for (const each of routes) table.add(each.method, each.path, answer(each, access));
    return { table, routes };
  });
}
