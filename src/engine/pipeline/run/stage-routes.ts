import type Koa from 'koa';
import type { ConfigProblem } from '../../../config/config.js';
import {
  routeMethods,
  type HandledRoute,
  type RouteRequest,
  type ServedRoute,
  type StagePlace,
  type StageRoute,
} from '../../../plugin/core.js';
import type { Caller, Host } from '../../../plugin/index.js';
import type { LoadedStage } from '../load/load-stages.js';
import { isPattern, routeOwner, routeProblems, type RouteOwner } from '../order/route-owners.js';
import { composeStages } from './traced.js';

/** A route as its stage has brought it. */
interface BroughtRoute {
  readonly stage: LoadedStage;
  readonly route: StageRoute;
}

/** Routes that the stages of one pipeline bring while they are set up. */
export class StageRoutes {
  readonly #formats: Host['formats'];
  readonly #placeOf: (stage: LoadedStage) => StagePlace;
  readonly #brought: BroughtRoute[] = [];
  #isClosed = false;

  constructor(formats: Host['formats'], placeOf: (stage: LoadedStage) => StagePlace) {
    this.#formats = formats;
    this.#placeOf = placeOf;
  }

  /** Throws a TypeError on a route that cannot be read, and once the pipeline is built. */
  add(stage: LoadedStage, route: StageRoute): void {
    if (this.#isClosed) throw new TypeError(`A route must be added in setup, not later: ${nameOf(route)}.`);
    if (stage.config.pipeline !== undefined)
      throw new Error(
        `brings the route ${nameOf(route)}, which only an entry of \`pipeline:\` may; list it there`,
      );
    const fault = faultOf(route);
    if (fault !== undefined) throw new TypeError(`the route ${nameOf(route)} ${fault}`);
    if (!isHandled(route)) this.#formats.get(route.format); // throws if there is none
    this.#brought.push({ stage, route });
  }

  /** Ends the setup; returns the problems of paths that have two owners. */
  close(formats: readonly RouteOwner[]): readonly ConfigProblem[] {
    this.#isClosed = true;
    const stages = [...new Set(this.#brought.map(({ stage }) => stage))];
    const owners = stages.map((stage) => routeOwner(stage.config, stage.plugin.name, this.#of(stage)));
    return owners.flatMap((owner, at) => routeProblems(owner, [...formats, ...owners.slice(0, at)]));
  }

  served(): readonly ServedRoute[] {
    return this.#brought.map(({ stage, route }) => servedRoute(route, this.#placeOf(stage)));
  }

  #of(stage: LoadedStage): readonly StageRoute[] {
    return this.#brought.flatMap((brought) => (brought.stage === stage ? brought.route : []));
  }
}

function isHandled(route: StageRoute): route is HandledRoute {
  return route.operation === undefined || route.operation === 'route';
}

function nameOf({ method, path }: Partial<StageRoute>): string {
  return `${method} ${path}`;
}

/** Reason why a route cannot be read; undefined: it can. */
function faultOf(route: StageRoute): string | undefined {
  if (!(routeMethods as readonly unknown[]).includes(route.method) || !isPattern(route.path))
    return `cannot be read: it needs a method (${routeMethods.join(', ')}) and a path such as "/reports/:day"`;
  if (!isHandled(route)) return formatPathFault(route);
  const { auth = 'caller', page, method, path } = route;
  if (typeof route.handle !== 'function') return 'has no handle to answer it';
  if (!(auths as readonly unknown[]).includes(auth))
    return `has the unknown auth ${JSON.stringify(auth)}; known: ${auths.join(', ')}`;
  if (page === undefined) return undefined;
  if (typeof page !== 'string' || !/^\P{Cc}{1,40}$/u.test(page))
    return 'has a page whose title is not 1 to 40 characters';
  return method === 'GET' && /^[\w/.~-]+$/.test(path)
    ? undefined
    : 'has a page, which needs a GET route without parameters';
}

const auths = ['caller', 'master', 'none'] as const;

function formatPathFault({ operation, format }: Exclude<StageRoute, HandledRoute>): string | undefined {
  if (!['generate', 'count-tokens'].includes(operation))
    return `has the unknown operation ${JSON.stringify(operation)}; known: route, generate, count-tokens`;
  return typeof format === 'string' ? undefined : `is for "${operation}" but names no format`;
}

function servedRoute(route: StageRoute, place: StagePlace): ServedRoute {
  const { method, path, openapi } = route;
  const common = { method, path, stage: place.stage, ...(openapi && { openapi }) };
  if (!isHandled(route))
    return {
      ...common,
      operation: route.operation,
      auth: 'caller',
      format: route.format,
      page: undefined,
      handler: undefined,
    };
  const { auth = 'caller', page } = route;
  const handler = composeStages([{ place, middleware: handlerOf(route), takes: undefined }]);
  return {
    ...common,
    operation: auth === 'caller' ? 'route' : 'other',
    auth,
    format: undefined,
    page,
    handler,
  };
}

/** Timed and blamed as its stage. */
function handlerOf(route: HandledRoute): Koa.Middleware {
  return async (ctx) => {
    const { params = {} } = ctx as Koa.Context & { params?: RouteRequest['params'] }; // set by the router
    const { caller } = ctx.state as { caller?: Caller }; // set by auth, where the route needs it
    const request = { params, query: new URLSearchParams(ctx.querystring), caller };
    await route.handle(ctx, request);
  };
}
