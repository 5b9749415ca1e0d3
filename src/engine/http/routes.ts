import { connectionOf, type Slots } from '../../plugin/core.js';
import { GatewayError, stickyKey, usageBody, type Format, type Operation } from '../../plugin/index.js';
import type { FormatRoute } from '../../plugin/format/index.js';
import { dialectOf, sharedDialect } from './dialect.js';
import type { CoreContext, CoreMiddleware, CoreState } from './exchange.js';
import { asksReadiness, healthReport } from './health.js';
import { listModels, showModel } from './models.js';
import { pathParameter, type RouteContext } from './route-context.js';
import { isUnanswered, keyed, unanswered } from './keyed.js';
import { RouteTable, routesAt } from './route-table.js';
import { stageRoute } from './stage-route.js';
import type { Handshake } from './connection/upgrades.js';
import type { IncomingHttpHeaders } from 'node:http';

/** The routes of one runtime. */
export interface Routes {
  /** Answers a request that has a route. */
  readonly middleware: CoreMiddleware;
  readonly tables: readonly RouteTable<CoreState>[];
  /** Routes that an alias may lead to, by their path, with their format. */
  readonly doors: ReadonlyMap<string, Format | undefined>;
  /** The format that a path belongs to, for any method. */
  formatOf(path: string): Format | undefined;
  /** Gives a request that no route has taken the error bodies of its path. */
  speak(ctx: CoreContext): void;
}

/**
 * Routes of the formats, and of the models, the usage and the health of the gateway; model calls have a separate router
 * in front, since a router tries every route for each request. `webSockets: false` omits those for a WebSocket.
 */
export function createRoutes(serving: RouteContext, { webSockets = true } = {}): Routes {
  const calls = new RouteTable<CoreState>();
  const others = new RouteTable<CoreState>();
  const owners = new Map<string, Format>();
  for (const format of serving.formats) {
    for (const route of format.routes) {
      owners.set(route.path, format);
      const table = route.operation === 'generate' ? calls : others;
      table.add(route.method, route.path, formatRoute(serving, format, route));
      if (route.websocket && webSockets) others.add('GET', route.path, webSocketRoute(serving, format));
    }
  }
  const doors = new Map<string, Format | undefined>([
    ...owners,
    ...[...modelPaths, ...healthPaths].map(pathWithoutFormat),
  ]);
  for (const route of serving.pipeline.routes) {
    const format = serving.formats.find(({ name }) => name === route.format);
    if (format) owners.set(route.path, format);
    const table = route.operation === 'generate' ? calls : others;
    table.add(route.method, route.path, stageRoute(serving, format, route));
  }
  addCatalogRoutes(others, serving);
  const call = calls.middleware;
  const other = others.middleware;
  const tables = [calls, others];
  const formatOf = (path: string) =>
    routesAt(tables, path).flatMap((route) => owners.get(route.path) ?? [])[0];
  const shared = sharedDialect(serving.formats);
  return {
    middleware: (ctx, next) => call(ctx, () => other(ctx, next)),
    tables,
    doors,
    formatOf,
    speak(ctx) {
      const owner = pathsUpFrom(ctx.path).flatMap((path) => formatOf(path) ?? [])[0];
      if (owner) dialectOf([owner])(ctx);
      else if (/^\/(v1|models|usage)(\/|$)/.test(ctx.path)) shared(ctx);
    },
  };
}

const modelPaths = ['{/v1}/models', '{/v1}/models/:id', '{/v1}/models/:id/*rest'] as const;
const healthPaths = ['/', '/health', '{/v1}/meta'] as const;

/** A path that belongs to no format. */
function pathWithoutFormat(path: string): [string, undefined] {
  return [path, undefined];
}

/** A path and those above it, up to three: `/v1/messages/batches/1` is about Messages. */
function pathsUpFrom(path: string): readonly string[] {
  const parts = path.slice(0, 200).split('/').slice(0, 6);
  return [0, 1, 2, 3].map((count) => parts.slice(0, parts.length - count).join('/')).filter(Boolean);
}

function addCatalogRoutes(table: RouteTable<CoreState>, serving: RouteContext): void {
  const speak = sharedDialect(serving.formats);
  const add = (path: string, operation: Operation, answer: (ctx: CoreContext) => void) => {
    const answered = keyed(serving, operation, undefined, answer);
    table.add('GET', path, (ctx, next) => {
      speak(ctx);
      return answered(ctx, next);
    });
  };
  const [list, ...each] = modelPaths;
  add(list, 'models', answerModels(serving));
  for (const path of each) add(path, 'models', answerModel(serving));
  add('{/v1}/usage', 'usage', answerUsage(serving));
  for (const path of healthPaths) table.add('GET', path, answerHealth(serving));
  table.add('GET', '/metrics', answerMetrics(serving));
}

/** A path of a format: through the stages, and then to the route's own handler, if any. */
function formatRoute(serving: RouteContext, format: Format, route: FormatRoute): CoreMiddleware {
  if (!route.handle) return keyed(serving, route.operation, format);
  return keyed(serving, route.operation, format, async (ctx) => {
    // A narrower view of the same; the order check has made sure of the caller.
    const stageContext = ctx as unknown as Parameters<NonNullable<FormatRoute['handle']>>[0];
    await route.handle?.(stageContext, serving.formatContext(stageContext));
    const what = `The route ${route.method} ${route.path} of the format ${JSON.stringify(format.name)}`;
    if (isUnanswered(ctx)) throw unanswered(what, ctx);
  });
}

/** Handshake of a WebSocket at the path of a format: behind the stages that check the caller. */
function webSocketRoute(serving: RouteContext, format: Format): CoreMiddleware {
  return keyed(serving, 'route', format, (ctx) => {
    const connection = connectionOf(ctx.req.socket) as Handshake | undefined; // of the server's own sockets
    if (!connection) throw upgradeRequired(ctx.path);
    const { caller, requestId } = ctx.state;
    connection.admit(caller, (error) => format.error?.(error, { requestId }) ?? error.toJSON());
    ctx.status = 204;
  });
}

function upgradeRequired(path: string): GatewayError {
  const message = `GET ${path} is a WebSocket: send an upgrade request, or POST the request.`;
  return new GatewayError('upgrade_required', message, {
    headers: { upgrade: 'websocket', connection: 'upgrade' },
  });
}

const answerModels = (serving: RouteContext) => (ctx: CoreContext) => {
  ctx.body = listModels(serving.models, queryOf(ctx), ctx.state.caller);
};

const answerModel = (serving: RouteContext) => (ctx: CoreContext) => {
  ctx.body = showModel(serving.models, namedModel(ctx), ctx.state.caller);
};

/** Model that the path names, also with slashes of its own: `/v1/models/meta-llama/Llama-3.3-70B`. */
function namedModel(ctx: CoreContext): string {
  const rest = pathParameter(ctx, 'rest').replace(/\/$/, '');
  return rest === '' ? pathParameter(ctx, 'id') : `${pathParameter(ctx, 'id')}/${rest}`;
}

const answerUsage = (serving: RouteContext) => (ctx: CoreContext) => {
  ctx.body = usageOf(serving.slots, ctx.headers, ctx.state);
};

/** Avoids `ctx.URL`, which needs a valid host header; health checks have none. */
function queryOf(ctx: CoreContext): URLSearchParams {
  return new URLSearchParams(ctx.querystring);
}

function answerHealth(serving: RouteContext): CoreMiddleware {
  return async (ctx) => {
    const ofReadiness = asksReadiness(queryOf(ctx));
    const { isReady, body } = healthReport(serving.health, ofReadiness);
    ctx.status = ofReadiness && !isReady ? 503 : 200;
    if (ctx.status === 503) ctx.set('retry-after', '1');
    ctx.body = body;
  };
}

function answerMetrics(serving: RouteContext): CoreMiddleware {
  return async (ctx) => {
    await serving.authorizeMetrics(ctx);
    ctx.type = 'text/plain; version=0.0.4; charset=utf-8';
    ctx.body = await serving.metricsText();
  };
}

/** `GET /v1/usage`: windows of the sticky key's OAuth slot, else of the next one to be picked. */
function usageOf(slots: Slots, headers: IncomingHttpHeaders, { caller }: CoreState): object {
  const slot = slots.account(caller && stickyKey(caller.keyId, headers), caller);
  if (slot) return usageBody(slot.id, slot.windows);
  throw new GatewayError(
    'not_found',
    'No slot of this gateway has an OAuth account, so there are no usage windows.',
  );
}
