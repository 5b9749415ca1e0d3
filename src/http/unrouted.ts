import { GatewayError } from '../plugin/index.js';
import type { CoreContext, CoreMiddleware } from './exchange.js';
import { keyed, type GatewayRouter } from './routes.js';
import type { RouteContext } from './route-context.js';

interface Layer {
  readonly path: string | RegExp;
  readonly methods: readonly string[];
}

/** What of a router tells its routes. */
interface Matcher {
  match(path: string, method: string): { readonly path: readonly Layer[] };
}

/**
 * What no route has answered: 405 with `allow` for a path of ours, else 404. Under `/v1` and on paths of ours plain Koa
 * middleware stages see it first, so that CORS and the like can answer.
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

/** 405 with `allow` where there are `allowed` methods, else 404; OPTIONS is told what is allowed. */
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

/** The methods that routes take at a path; one with a name of its own is not that of an id. */
export function allowedMethods(routers: readonly Matcher[], path: string): readonly string[] {
  const layers = routers.flatMap((router) => router.match(path, 'GET').path);
  const named = layers.filter((layer) => !String(layer.path).includes(':'));
  const methods = (named.length > 0 ? named : layers).flatMap((layer) => layer.methods);
  return [...new Set(methods)].toSorted();
}
