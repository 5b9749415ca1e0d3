import { Router } from '@koa/router';
import { GatewayError, type Operation, type WireFormat } from '../plugin/index.js';
import { requireMaster } from './access.js';
import type { CoreContext, CoreMiddleware, CoreState } from './exchange.js';
import { healthReport } from './health.js';
import { listModels, showModel } from './models.js';
import { pathParameter } from './path-parameter.js';
import type { RouteContext } from './route-context.js';
import { cancelResponse, deleteResponse, listInputItems, showResponse } from './stored-responses.js';
import { usageOf } from './usage.js';

export type GatewayRouter = Router<CoreState, object>;

/** All routes of the contract, with and without `/v1`; those answered here run behind the stages. */
export function createRouter(serving: RouteContext): GatewayRouter {
  const router: GatewayRouter = new Router<CoreState, object>();
  for (const [path, format] of Object.entries(generatePaths)) {
    router.post(`{/v1}${path}`, keyed(serving, 'generate', format));
  }
  router.post('{/v1}/messages/count_tokens', keyed(serving, 'count-tokens'));
  router.get('{/v1}/models', keyed(serving, 'models', 'messages', answerModels(serving)));
  router.get('{/v1}/models/:id', keyed(serving, 'models', 'messages', answerModel(serving)));
  router.get('{/v1}/usage', keyed(serving, 'usage', 'messages', answerUsage(serving)));
  addResponseRoutes(router, serving);
  for (const path of ['/', '/health', '{/v1}/meta']) router.get(path, answerHealth(serving));
  router.get('/metrics', answerMetrics(serving));
  return router;
}

function addResponseRoutes(router: GatewayRouter, serving: RouteContext): void {
  const stored = (answer: (ctx: CoreContext) => Promise<void> | void) =>
    keyed(serving, 'stored-response', 'responses', answer);
  router.post('{/v1}/responses/input_tokens', keyed(serving, 'count-tokens', 'responses'));
  router.get('{/v1}/responses/:id', stored(showResponse(serving)));
  router.delete('{/v1}/responses/:id', stored(deleteResponse(serving)));
  router.get('{/v1}/responses/:id/input_items', stored(listInputItems(serving)));
  router.post('{/v1}/responses/:id/cancel', stored(cancelResponse));
}

/**
 * Fast routes for model calls at the exact paths that clients use, in front of the router, which tries every
 * route for each request. Other spellings of a path are left to the router.
 */
export function createShortcuts(serving: RouteContext): CoreMiddleware {
  const routes = new Map<string, CoreMiddleware>();
  for (const [path, format] of Object.entries(generatePaths)) {
    const route = keyed(serving, 'generate', format);
    routes.set(path, route).set(`/v1${path}`, route);
  }
  return (ctx, next) => {
    const route = ctx.method === 'POST' ? routes.get(ctx.path) : undefined;
    return route ? route(ctx, next) : next();
  };
}

const generatePaths: Readonly<Record<string, WireFormat>> = {
  '/messages': 'messages',
  '/chat/completions': 'chat',
  '/responses': 'responses',
  '/completions': 'completions',
};

/** Runs the stages of an operation and then `answer`, where the stages do not answer themselves. */
export function keyed(
  serving: RouteContext,
  operation: Operation,
  format: WireFormat = 'messages',
  answer: (ctx: CoreContext) => Promise<void> | void = requireResponse,
): CoreMiddleware {
  return async (ctx) => {
    if (!serving.takesRequests) throw shuttingDown(ctx);
    ctx.state.operation = operation;
    ctx.state.format = format;
    const { pipeline } = serving;
    pipeline.enter();
    ctx.state.onSettled(() => pipeline.leave());
    // A stage's own context type is narrower; koa-compose calls them all with this one context.
    const run = pipeline.middlewareFor(operation) as unknown as CoreMiddleware;
    await run(ctx, async () => answer(ctx));
    requireAnswer(ctx);
  };
}

function shuttingDown(ctx: CoreContext): GatewayError {
  ctx.set('connection', 'close');
  return new GatewayError('shutting_down', 'This gateway is shutting down; send the request again.', {
    headers: { 'retry-after': '1' },
  });
}

/** Fails a request whose stage neither called `next` nor answered: Koa would send a plain-text 404. */
function requireAnswer(ctx: CoreContext): void {
  const isUntouched = ctx.status === 404 && ctx.body === undefined && !ctx.headerSent;
  if (!isUntouched || ctx.respond === false) return;
  const error = new GatewayError('internal', 'A stage has ended the request without an answer.');
  ctx.state.thrown = { error, by: ctx.state.endedBy };
  throw error;
}

function requireResponse(ctx: CoreContext): void {
  if (!ctx.state.response) throw new GatewayError('internal', 'The pipeline ended without an answer.');
}

const answerModels = (serving: RouteContext) => (ctx: CoreContext) => {
  ctx.body = listModels(serving.models, queryOf(ctx), ctx.state.caller);
};

const answerModel = (serving: RouteContext) => (ctx: CoreContext) => {
  ctx.body = showModel(serving.models, pathParameter(ctx, 'id'), ctx.state.caller);
};

const answerUsage = (serving: RouteContext) => (ctx: CoreContext) => {
  ctx.body = usageOf(serving.slots, ctx.headers, ctx.state);
};

/** Not by way of `ctx.URL`, which needs a host header that makes a URL; health checks have none. */
function queryOf(ctx: CoreContext): URLSearchParams {
  return new URLSearchParams(ctx.querystring);
}

function answerHealth(serving: RouteContext): CoreMiddleware {
  return async (ctx) => {
    const asksReadiness = queryOf(ctx).get('ready') === '1';
    const { isReady, body } = healthReport(serving.health, asksReadiness);
    ctx.status = asksReadiness && !isReady ? 503 : 200;
    if (ctx.status === 503) ctx.set('retry-after', '1');
    ctx.body = body;
  };
}

function answerMetrics(serving: RouteContext): CoreMiddleware {
  return async (ctx) => {
    await requireMaster(ctx.headers, serving.keys, '/metrics');
    ctx.type = 'text/plain; version=0.0.4; charset=utf-8';
    ctx.body = await serving.metricsText();
  };
}
