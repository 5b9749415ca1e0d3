import type { IncomingMessage } from 'node:http';
import Koa from 'koa';
import type { Config } from '../config/config.js';
import { basePathOf } from '../config/public-url.js';
import type { Gateway } from './gateway.js';
import { answerAliases } from '../engine/http/aliases.js';
import { errorBoundary } from '../engine/http/boundary.js';
import type { CoreContext, CoreMiddleware, CoreState } from '../engine/http/exchange.js';
import type { Health } from '../engine/http/health.js';
import { keepLazyBodies } from '../engine/http/koa/lazy-bodies.js';
import { setPlainHeaders } from '../engine/http/koa/plain-headers.js';
import type { RouteLookup } from '../engine/http/route-table.js';
import type { Handle } from '../engine/http/connection/listener.js';
import type { RouteContext } from '../engine/http/route-context.js';
import { createRoutes } from '../engine/http/routes.js';
import { knownSecrets, requestMask } from './settle/request-mask.js';
import { perRuntime, type Runtime } from './runtime.js';
import { isUp } from './services.js';
import { answerUnrouted } from '../engine/http/unrouted.js';
import { trustedHops, type TrustedHops } from '../engine/http/trusted-hops.js';
import { name, version } from '../kit/version.js';

/** Parts of a gateway's app that serve its operators. */
export interface Operators extends Pick<RouteContext, 'asOperator' | 'authorizeMetrics'> {
  /** Behind the routes of requests, each for its own paths. */
  readonly middleware: readonly CoreMiddleware[];
  /** Route tables of the operators, which leave unknown methods of their paths to the app. */
  readonly tables: readonly RouteLookup[];
}

/** Koa app of a gateway: seeds, error boundary, routes, and answers to unknown routes. */
function createApp(
  gateway: Gateway,
  operators: Operators,
  hops: TrustedHops | undefined,
): Koa<CoreState, object> {
  const { config } = gateway.runtime;
  const app = new Koa<CoreState, object>({ proxy: hops !== undefined });
  keepLazyBodies(app);
  setPlainHeaders(app);
  if (hops) trustHops(hops, app);
  const handlersOf = perRuntime((runtime) => {
    const serving = routeContextOf(gateway, runtime, operators);
    const routes = createRoutes(serving, { webSockets: config.listen.webSockets !== false });
    return {
      route: routes.middleware,
      alias: answerAliases(routes, config.listen.aliases),
      unrouted: answerUnrouted(serving, routes, operators.tables),
      speak: (ctx: CoreContext) => routes.speak(ctx),
    };
  });
  app.use(gateway.exchanges.middleware);
  const secrets = knownSecrets(gateway.services.slots, () => gateway.runtime);
  const maskOf = (ctx: CoreContext) => requestMask({ ctx, state: ctx.state }, secrets);
  app.use(errorBoundary(maskOf, (ctx) => handlersOf(gateway.runtime).speak(ctx)));
  app.use(gateway.wrongKeys.middleware);
  const { watches } = gateway;
  const runtimeOf = (ctx: CoreContext) => watches.runtimeOf?.(ctx) ?? gateway.runtime;
  const route: CoreMiddleware = (ctx, next) => handlersOf(runtimeOf(ctx)).route(ctx, next);
  app.use((ctx, next) => {
    const placing = watches.place?.(ctx);
    return placing ? placing.then(() => route(ctx, next)) : route(ctx, next);
  });
  for (const middleware of operators.middleware) app.use(middleware);
  app.use((ctx, next) => handlersOf(runtimeOf(ctx)).alias(ctx, next));
  app.use((ctx, next) => handlersOf(gateway.runtime).unrouted(ctx, next));
  // The boundary answers every error; only sockets that broke during a response are left.
  app.on('error', (error: Error) => gateway.services.log.debug({ err: error }, 'A response broke off.'));
  return app;
}

function routeContextOf(gateway: Gateway, runtime: Runtime, operators: Operators): RouteContext {
  return {
    ...gateway.services,
    ...runtime,
    ...placeOf(runtime),
    get health() {
      return healthOf(gateway);
    },
    get takesRequests() {
      return gateway.takesRequests;
    },
    asOperator: operators.asOperator,
    authorizeMetrics: operators.authorizeMetrics,
    metricsText: () => gateway.metrics.text(),
    watch: gateway.watches,
  };
}

function healthOf(gateway: Gateway): Health {
  const { services, runtime, isDraining, startedMs } = gateway;
  const states = services.slots.list();
  return {
    name,
    version,
    uptimeSeconds: (services.now() - startedMs) / 1000,
    limits: runtime.pipeline.limits,
    hasOpenSlots: states.some(({ state }) => state === 'ready' || state === 'cooling'),
    slots: { total: states.length, schedulable: states.filter(({ state }) => state === 'ready').length },
    isDraining,
    isUp: isUp(services),
  };
}

/** Base path of the gateway, by the config in force. */
const placeOf = perRuntime(({ config }) => ({ basePath: basePathOf(config.panel.publicUrl) }));

/** Maker of the handler of a gateway's requests, its Koa app; `config`: as at the start. */
export function appOf(
  config: Config,
  operatorsOf: (gateway: Gateway) => Operators,
): (gateway: Gateway) => Handle {
  return (gateway) => {
    const hops = trustedHops(config.listen);
    const handle = createApp(gateway, operatorsOf(gateway), hops).callback();
    return (req, res) => {
      hops?.clean(req);
      removeBasePath(req, placeOf(gateway.runtime).basePath);
      return handle(req, res);
    };
  };
}

/**
 * Strips the gateway's base path from a request whose proxy has kept it; `basePath` is such as `/llm`, empty for none.
 * Other requests stay unchanged.
 */
function removeBasePath(request: IncomingMessage, basePath: string): void {
  const { url = '' } = request;
  if (basePath === '' || !url.startsWith(basePath)) return;
  const rest = url.slice(basePath.length);
  if (rest.startsWith('/')) request.url = rest;
  else if (rest === '' || rest.startsWith('?')) request.url = `/${rest}`;
}

/** Makes Koa take the caller's address from the hops; `ip` is the first of `ips`, else that of the connection. */
function trustHops(hops: TrustedHops, app: Koa<CoreState, object>): void {
  Object.defineProperty(app.request, 'ips', {
    get(this: Koa.Request) {
      return [hops.callerIn(this.headers)];
    },
  });
}
