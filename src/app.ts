import Koa from 'koa';
import { createAdminRouter, type Operations } from './admin/routes.js';
import { problemsOf } from './config/config.js';
import type { Gateway } from './gateway.js';
import { requireMaster } from './http/access.js';
import { errorBoundary } from './http/boundary.js';
import type { CoreState } from './http/exchange.js';
import type { Health } from './http/health.js';
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
  app.use(async (ctx, next) => {
    if (isAdminPath(ctx.path)) await requireMaster(ctx.headers, gateway.keys, '/admin/*');
    await next();
  });
  app.use(router.routes());
  app.use(admin.routes());
  app.use(answerUnrouted(serving, [router, admin]));
  // Every error is answered by the boundary; what is left are sockets that broke while a body was written.
  app.on('error', (error: Error) => gateway.log.debug({ err: error }, 'A response broke off.'));
  return app;
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
    metricsText: () => gateway.metrics.text(),
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
        () => [],
        (error: unknown) => problemsOf(error),
      ),
    describePipeline: () => gateway.pipeline.stages,
    get writtenConfig() {
      return gateway.config.written;
    },
  };
}
