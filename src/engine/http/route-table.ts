import { Router, type RouterMiddleware } from '@koa/router';
import { pathToRegexp } from 'path-to-regexp';
import type { RoutePath } from '../../plugin/core.js';
import type { CoreMiddleware } from './exchange.js';
import { LiteralRoutes } from './literal-routes.js';

/** Path of a route, with the methods that it takes. */
export interface PathRoute {
  /** In the syntax of @koa/router. */
  readonly path: string;
  readonly methods: readonly string[];
}

/** Routes that can be looked up by a path of a request. */
export interface RouteLookup {
  at(path: string): readonly PathRoute[];
}

/** Routes of a router, and of any method at a path. */
export class RouteTable<State extends object> implements RouteLookup {
  readonly #router = new Router<State, object>();
  readonly #routes: (PathRoute & { readonly pattern: RegExp })[] = [];
  readonly #literal = new LiteralRoutes(this.#router);
  readonly #routed = this.#router.routes() as unknown as CoreMiddleware; // the router's own context type is wider

  /** Answers a request that has a route, including routes that are added later. */
  readonly middleware: CoreMiddleware = (ctx, next) => {
    const answer = this.#literal.match(ctx) ?? this.#routed;
    return answer(ctx, next);
  };

  add(method: RoutePath['method'], path: string, middleware: RouterMiddleware<State, object>): void {
    this.#router[verbs[method]](path, middleware);
    this.#literal.add(path);
    const methods = method === 'GET' ? ['HEAD', 'GET'] : [method];
    this.#routes.push({ path, methods, pattern: pathToRegexp(path).regexp });
  }

  get routes(): readonly PathRoute[] {
    return this.#routes;
  }

  at(path: string): readonly PathRoute[] {
    return this.#routes.filter(({ pattern }) => pattern.test(path));
  }
}

const verbs = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

/** The routes at a path, of any method; those with a literal name hide those with an id. */
export function routesAt(tables: readonly RouteLookup[], path: string): readonly PathRoute[] {
  const routes = tables.flatMap((table) => table.at(path));
  const named = routes.filter((route) => !/[:*]/.test(route.path));
  return named.length > 0 ? named : routes;
}
