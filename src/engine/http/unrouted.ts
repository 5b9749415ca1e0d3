import { GatewayError, type Format } from '../../plugin/index.js';
import type { CoreContext, CoreMiddleware } from './exchange.js';
import { keyed } from './keyed.js';
import { nothingAt } from './nothing-at.js';
import { routesAt, type RouteLookup } from './route-table.js';
import type { Routes } from './routes.js';
import type { RouteContext } from './route-context.js';

/**
 * Answers a request without a route: 405 with `allow` for a known path, else 404. Under `/v1` and on known
 * paths plain Koa middleware stages run first, so that CORS and others can answer.
 */
export function answerUnrouted(
  serving: RouteContext,
  routes: Routes,
  others: readonly RouteLookup[],
): CoreMiddleware {
  const tables = [...routes.tables, ...others];
  const refuse = (ctx: CoreContext) =>
    refuseUnrouted(ctx, allowedMethods(tables, ctx.path), () =>
      nothingAt(ctx, routes.doors, serving.basePath),
    );
  const throughStages = (format: Format | undefined) => keyed(serving, 'other', format, refuse);
  return async (ctx, next) => {
    const isOurs = /^\/v1(\/|$)/.test(ctx.path) || allowedMethods(tables, ctx.path).length > 0;
    if (isOurs) await throughStages(routes.formatOf(ctx.path))(ctx, next);
    else refuse(ctx);
  };
}

/** Answers 405 with `allow` if there are `allowed` methods, else 404; OPTIONS gets the allowed methods. */
export function refuseUnrouted(
  ctx: CoreContext,
  allowed: readonly string[],
  nothing = () => `There is nothing at ${ctx.path}.`,
): void {
  if (allowed.length === 0) throw new GatewayError('not_found', nothing());
  const allow = [...allowed, 'OPTIONS'].join(', ');
  if (ctx.method !== 'OPTIONS') {
    const message = `${ctx.path} does not accept ${ctx.method}; it accepts ${allowed.join(', ')}.`;
    throw new GatewayError('method_not_allowed', message, { headers: { allow } });
  }
  ctx.status = 204;
  ctx.set('allow', allow);
}

/** Methods of the routes at a path; a route with a literal name takes precedence over one with an id. */
export function allowedMethods(tables: readonly RouteLookup[], path: string): readonly string[] {
  const methods = routesAt(tables, path).flatMap((route) => route.methods);
  return [...new Set(methods)].toSorted();
}
