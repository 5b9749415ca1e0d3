import type { Router } from '@koa/router';
import type { CoreContext, CoreMiddleware } from './exchange.js';

type Layer<State extends object> = Router<State, object>['stack'][number];

/** Route that a router would choose alone for one method and path. */
interface LiteralRoute<State extends object> {
  readonly layer: Layer<State>;
  /** All layers at the path, of any method. */
  readonly matched: readonly Layer<State>[];
  readonly middleware: CoreMiddleware;
}

/**
 * Finds the routes of a router by literal paths without parameters, since the router tests every route and composes a
 * chain for each request. All others remain its own.
 */
export class LiteralRoutes<State extends object> {
  readonly #router: Router<State, object>;
  readonly #paths = new Set<string>();
  /** By path and method; undefined if the router has to choose. */
  readonly #known = new Map<string, Map<string, LiteralRoute<State> | undefined>>();

  constructor(router: Router<State, object>) {
    this.#router = router;
  }

  /** Records the path of a new route. */
  add(path: string): void {
    for (const literal of literalPaths(path)) this.#paths.add(literal);
    this.#known.clear();
  }

  /** Matches a request as the router would, and returns the middleware of its route; undefined if the router has to. */
  match(ctx: CoreContext): CoreMiddleware | undefined {
    const { method, path } = ctx;
    if (!this.#paths.has(path)) return undefined;
    const route = this.#routeAt(path, method);
    if (!route) return undefined;
    noteRoute(ctx as unknown as RoutedContext<State>, this.#router, route); // the router's own context type is wider
    return route.middleware;
  }

  #routeAt(path: string, method: string): LiteralRoute<State> | undefined {
    const known = this.#known.get(path) ?? new Map<string, LiteralRoute<State> | undefined>();
    if (known.has(method)) return known.get(method);
    const route = this.#chosen(path, method);
    this.#known.set(path, known.set(method, route));
    return route;
  }

  #chosen(path: string, method: string): LiteralRoute<State> | undefined {
    const { path: matched, pathAndMethod } = this.#router.match(path, method);
    const [layer, ...others] = pathAndMethod;
    const [middleware, ...further] = layer?.stack ?? [];
    if (!layer || !middleware || method === 'HEAD' || layer.paramNames.length > 0) return undefined;
    if (others.length > 0 || further.length > 0) return undefined;
    return { layer, matched, middleware: middleware as unknown as CoreMiddleware }; // as above
  }
}

/** Fields that the router sets on a context. */
interface RoutedContext<State extends object> {
  readonly request: { params: object };
  matched?: Layer<State>[];
  router: Router<State, object>;
  routeMatched: boolean;
  captures: readonly string[];
  params: object;
  routerPath: Layer<State>['path'];
  routerName: undefined;
  _matchedRoute: Layer<State>['path'];
}

/** Sets the router's fields on the context of a request that it has matched. */
function noteRoute<State extends object>(
  ctx: RoutedContext<State>,
  router: Router<State, object>,
  { layer, matched }: LiteralRoute<State>,
): void {
  if (ctx.matched) ctx.matched.push(...matched);
  else ctx.matched = [...matched];
  ctx.router = router;
  ctx.routeMatched = true;
  ctx._matchedRoute = layer.path;
  ctx.captures = [];
  ctx.params = ctx.request.params = { ...ctx.params };
  ctx.routerPath = layer.path;
  ctx.routerName = undefined;
}

/** Literal paths of a route without parameters: `{/v1}/models` is `/v1/models` and `/models`. */
function literalPaths(path: string): readonly string[] {
  const [, optional = '', rest = ''] = /^(?:\{(\/\w+)\})?((?:\/[\w.-]*)+)$/.exec(path) ?? [];
  if (rest === '') return [];
  return optional === '' ? [rest] : [`${optional}${rest}`, rest];
}
