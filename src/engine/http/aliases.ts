import type { CoreMiddleware } from './exchange.js';
import { aliasTargets } from './alias-target.js';
import { routesAt } from './route-table.js';
import type { Routes } from './routes.js';

/**
 * Serves the paths that configurations of clients have in place of those of the routes. They lead to the routes of
 * formats, of the models and of the health alone: a proxy may block others by their prefix.
 */
export function answerAliases(routes: Routes, aliases: readonly string[]): CoreMiddleware {
  const targetOf = aliasTargets(aliases, modelPaths(routes));
  return async (ctx, next) => {
    const target = targetOf(ctx.path);
    if (!target || !isDoor(routes, target.path)) return next();
    ctx.path = target.path;
    if (target.query !== undefined) ctx.querystring = target.query;
    if (target.model !== undefined) ctx.state.pathModel = target.model;
    return routes.middleware(ctx, next);
  };
}

/** Paths of model calls whose body is read and written anew, with `/v1`. */
function modelPaths({ doors }: Routes): readonly string[] {
  return [...doors].flatMap(([path, format]) => {
    const takesModel = path.startsWith('{/v1}/') && !path.includes(':') && format?.keepsBytes === false;
    return takesModel ? [path.replace('{/v1}', '/v1')] : [];
  });
}

/** True for a path that has routes, all of which aliases may lead to. */
function isDoor({ tables, doors }: Routes, path: string): boolean {
  const routes = routesAt(tables, path);
  return routes.length > 0 && routes.every((route) => doors.has(route.path));
}
