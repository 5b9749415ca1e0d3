import Koa from 'koa';
import { createAdminRouter } from '../admin/routes.js';
import { createPage } from '../console/api/page.js';
import type { Gateway } from './gateway.js';
import { requireMaster } from '../http/access.js';
import { listedInput } from '../formats/responses/listed-input.js';
import { replayResponse } from '../formats/responses/replay.js';
import { errorBoundary } from '../http/boundary.js';
import type { CoreMiddleware, CoreState } from '../http/exchange.js';
import type { Health } from '../http/health.js';
import { pathParameter } from '../http/path-parameter.js';
import { createRouter, createShortcuts } from '../http/routes.js';
import { operationsOf } from './admin-operations.js';
import type { RouteContext } from '../http/route-context.js';
import { consoleApi } from './console-api.js';
import { answerUnrouted } from '../http/unrouted.js';
import { name, version } from '../version.js';

/** Koa app of a gateway: seeds, error boundary, routes, and answers to unknown routes. */
export function createApp(gateway: Gateway): Koa<CoreState, object> {
  // Only the entry of the last proxy is trusted: the caller can write the others.
  const app = new Koa<CoreState, object>({ proxy: gateway.config.listen.trustProxy, maxIpsCount: 1 });
  const serving = routeContextOf(gateway);
  const router = createRouter(serving);
  const admin = createAdminRouter(operationsOf(gateway));
  app.use(gateway.exchanges.middleware);
  app.use(errorBoundary);
  app.use(gateway.wrongKeys.middleware);
  app.use(createShortcuts(serving));
  app.use(guardAdmin(gateway));
  app.use(router.routes());
  app.use(admin.routes());
  app.use(consoleApi(gateway));
  app.use(createPage());
  app.use(answerUnrouted(serving, [router, admin]));
  // The boundary answers every error; only sockets that broke during a response are left.
  app.on('error', (error: Error) => gateway.log.debug({ err: error }, 'A response broke off.'));
  return app;
}

/** Admits only the master key to `/admin/*`, and logs its actions. */
function guardAdmin({ keys }: Gateway): CoreMiddleware {
  return async (ctx, next) => {
    const isAdmin = isAdminPath(ctx.path);
    if (isAdmin) await requireMaster(ctx.headers, keys, '/admin/*');
    await next();
    if (!isAdmin || ctx.method !== 'POST' || ctx.status >= 400) return;
    const what = ctx.path
      .replace(/(?<!\/)\/+$/, '')
      .split('/')
      .at(-1);
    const slot = pathParameter(ctx, 'id') || undefined;
    ctx.state.log.info({ by: 'master', what, slot }, 'An operator has acted.');
  };
}

/** True also for unknown admin paths, in upper or lower case: the router ignores case too. */
function isAdminPath(path: string): boolean {
  return /^\/admin(\/|$)/i.test(path);
}

function routeContextOf(gateway: Gateway): RouteContext {
  return {
    log: gateway.log,
    keys: gateway.keys,
    store: gateway.store,
    slots: gateway.slots,
    now: gateway.now,
    get pipeline() {
      return gateway.pipeline;
    },
    get models() {
      return gateway.models;
    },
    get health() {
      return healthOf(gateway);
    },
    get takesRequests() {
      return gateway.takesRequests;
    },
    metricsText: () => gateway.metricsText(),
    responseViews: { replay: replayResponse, listedInput },
  };
}

function healthOf(gateway: Gateway): Health {
  const { pipeline, slots, isDraining, now, startedMs, isThere } = gateway;
  const states = slots.list();
  return {
    name,
    version,
    uptimeSeconds: (now() - startedMs) / 1000,
    limits: pipeline.limits,
    slots: { total: states.length, schedulable: states.filter(({ state }) => state === 'ready').length },
    isDraining,
    isThere,
  };
}
