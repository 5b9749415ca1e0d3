import Koa from 'koa';
import { createAdminRouter, type Operations } from './admin/routes.js';
import { problemsOf } from './config/config.js';
import type { Gateway } from './gateway.js';
import { requireMaster } from './http/access.js';
import { errorBoundary } from './http/boundary.js';
import type { CoreMiddleware, CoreState } from './http/exchange.js';
import type { Health } from './http/health.js';
import { pathParameter } from './http/path-parameter.js';
import { createRouter } from './http/routes.js';
import type { Serving } from './http/serving.js';
import { answerUnrouted } from './http/unrouted.js';
import { name, version } from './version.js';

/** The Koa app over a gateway: seeds, error boundary, routes, and what no route has answered. */
export function createApp(gateway: Gateway): Koa<CoreState, object> {
  const app = new Koa<CoreState, object>({ proxy: gateway.config.listen.trustProxy });
  const serving = servingOf(gateway);
  const router = createRouter(serving);
  const admin = createAdminRouter(operationsOf(gateway));
  app.use(gateway.exchanges.middleware);
  app.use(errorBoundary);
  app.use(guardAdmin(gateway));
  app.use(router.routes());
  app.use(admin.routes());
  app.use(answerUnrouted(serving, [router, admin]));
  // Every error is answered by the boundary; what is left are sockets that broke while a body was written.
  app.on('error', (error: Error) => gateway.log.debug({ err: error }, 'A response broke off.'));
  return app;
}

/** Lets only the master key to `/admin/*`, and tells of what it has done there. */
function guardAdmin({ keys }: Gateway): CoreMiddleware {
  return async (ctx, next) => {
    const isAdmin = isAdminPath(ctx.path);
    if (isAdmin) await requireMaster(ctx.headers, keys, '/admin/*');
    await next();
    if (!isAdmin || ctx.method !== 'POST' || ctx.status >= 400) return;
    const what = ctx.path.replace(/\/+$/, '').split('/').at(-1);
    const slot = pathParameter(ctx, 'id') || undefined;
    ctx.state.log.info({ by: 'master', what, slot }, 'An operator has acted.');
  };
}

/** Also those that no route has, whatever their case: the router does not look at it either. */
function isAdminPath(path: string): boolean {
  return /^\/admin(\/|$)/i.test(path);
}

function servingOf(gateway: Gateway): Serving {
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
    get isDraining() {
      return gateway.isDraining;
    },
    metricsText: () => gateway.metricsText(),
  };
}

function healthOf(gateway: Gateway): Health {
  const { pipeline, slots, isDraining, now, startedMs } = gateway;
  const states = slots.list();
  return {
    name,
    version,
    uptimeSeconds: (now() - startedMs) / 1000,
    limits: pipeline.limits,
    slots: { total: states.length, schedulable: states.filter(({ state }) => state === 'ready').length },
    isDraining,
  };
}

function operationsOf(gateway: Gateway): Operations {
  const { slots } = gateway;
  return {
    listSlots: () => slots.list(),
    pause: (id) => slots.pause(id),
    resume: (id) => slots.resume(id),
    drain: (id) => slots.drain(id),
    diagnose: (id, signal) => slots.diagnose(id, signal),
    reload: () =>
      gateway.reload().then(
        (needsRestart) => ({ problems: [], needsRestart }),
        (error: unknown) => ({ problems: problemsOf(error), needsRestart: [] }),
      ),
    describePipeline: () => gateway.pipeline.stages,
    get writtenConfig() {
      return gateway.config.written;
    },
  };
}
