import { GatewayError } from '../plugin/index.js';
import type { CoreContext, CoreMiddleware } from './exchange.js';
import { keyed, type GatewayRouter } from './routes.js';
import type { RouteContext } from './route-context.js';

interface Layer {
  readonly path: string | RegExp;
  readonly methods: readonly string[];
}

/** Part of a router that finds its routes. */
interface Matcher {
  match(path: string, method: string): { readonly path: readonly Layer[] };
}

/**
 * Answers a request without a route: 405 with `allow` for a known path, else 404. Under `/v1` and on known
 * paths plain Koa middleware stages run first, so that CORS and others can answer.
 */
export function answerUnrouted(serving: RouteContext, routers: readonly GatewayRouter[]): CoreMiddleware {
  const refuse = (ctx: CoreContext) => refuseUnrouted(ctx, allowedMethods(routers, ctx.path));
  const throughStages = keyed(serving, 'other', 'messages', refuse);
  return async (ctx, next) => {
    const isOurs = /^\/v1(\/|$)/.test(ctx.path) || allowedMethods(routers, ctx.path).length > 0;
    if (isOurs) await throughStages(ctx, next);
    else refuse(ctx);
  };
}

/** Answers 405 with `allow` if there are `allowed` methods, else 404; OPTIONS gets the allowed methods. */
export function refuseUnrouted(ctx: CoreContext, allowed: readonly string[]): void {
  if (allowed.length === 0) throw new GatewayError('not_found', `There is nothing at ${ctx.path}.`);
  const allow = [...allowed, 'OPTIONS'].join(', ');
  if (ctx.method !== 'OPTIONS') {
    const message = `${ctx.path} does not take ${ctx.method}; it takes ${allowed.join(', ')}.`;
    throw new GatewayError('method_not_allowed', message, { headers: { allow } });
  }
  ctx.status = 204;
  ctx.set('allow', allow);
}

/** Methods of the routes at a path; a route with a literal name takes precedence over one with an id. */
export function allowedMethods(routers: readonly Matcher[], path: string): readonly string[] {
  const layers = routers.flatMap((router) => router.match(path, 'GET').path);
  const named = layers.filter((layer) => !String(layer.path).includes(':'));
  const methods = (named.length > 0 ? named : layers).flatMap((layer) => layer.methods);
  return [...new Set(methods)].toSorted();
}
