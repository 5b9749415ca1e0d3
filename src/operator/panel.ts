import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { GatewayError } from '../plugin/index.js';
import type { PanelApi } from './panel-routes.js';
import { cookieName, sessionCookie } from './access/cookies.js';
import { basePathOf } from '../config/public-url.js';
import type { PanelContext } from './route.js';
import type { Gateway } from '../gateway/gateway.js';
import { perRuntime } from '../gateway/per-runtime.js';
import type { CoreContext, CoreMiddleware } from '../engine/http/exchange.js';
import { allowedMethods, refuseUnrouted } from '../engine/http/unrouted.js';
import { StoreError } from '../state/store/store-error.js';

/** Opens the panel API at the first call. */
export type LoadPanel = () => Promise<PanelApi>;

export function panelLoader(gateway: Gateway): LoadPanel {
  return once(async () => (await import('../features/slots/all-slots.js')).openPanel(gateway));
}

/** Routes of `/api/panel/*` and `/openapi.json`, loaded by the first request to one of them. */
export function consoleApi(gateway: Gateway, loadPanel: LoadPanel): CoreMiddleware {
  const documentOf = perRuntime(({ formats, pipeline, config }) =>
    once(async () => {
      const [{ openApiDocument }, panel] = await Promise.all([
        import('../features/openapi/document.js'),
        loadPanel(),
      ]);
      const place = servedPlace(config.panel.publicUrl);
      return served(JSON.stringify(openApiDocument(formats, pipeline.routes, panel.routes, place)));
    }),
  );
  return async (ctx, next) => {
    if (isPanelPath(ctx.path)) await answerPanel(ctx, await loadPanel());
    else if (isDocument(ctx.path)) await answerDocument(ctx, documentOf(gateway.runtime));
    else await next();
  };
}

/** Place of a gateway as its document describes it. */
function servedPlace(publicUrl: string | undefined) {
  const basePath = basePathOf(publicUrl);
  const place = { path: basePath || '/', isSecure: publicUrl?.startsWith('https:') === true };
  return { basePath, sessionCookie: cookieName(sessionCookie, place) };
}

/** True also for unknown panel paths, in upper or lower case: the router ignores case too. */
function isPanelPath(path: string): boolean {
  return /^\/api\/panel(\/|$)/i.test(path);
}

function isDocument(path: string): boolean {
  return /^\/openapi\.json\/?$/i.test(path);
}

/** Answers a panel request; refuses unknown routes only after authentication. */
async function answerPanel(ctx: CoreContext, { router, authenticate }: PanelApi): Promise<void> {
  ctx.set('cache-control', 'no-store');
  ctx.set('x-content-type-options', 'nosniff');
  const panelContext = ctx as unknown as PanelContext; // a wider view of the same
  const run = router.routes() as unknown as CoreMiddleware; // likewise
  try {
    await run(ctx, async () => {
      if (ctx.method !== 'OPTIONS') await authenticate(panelContext);
      refuseUnrouted(ctx, allowedMethods([router], ctx.path));
    });
  } catch (error) {
    // A StoreError explains the problem to the operator, and only the operator calls the panel.
    if (error instanceof StoreError) throw new GatewayError('conflict', error.message, { cause: error });
    throw error;
  }
}

/** The API's document as it is sent. */
interface ServedDocument {
  readonly identity: Buffer;
  readonly gzip: Buffer;
  readonly tag: string;
}

async function served(json: string): Promise<ServedDocument> {
  const identity = Buffer.from(json);
  const tag = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
  return { identity, gzip: await promisify(gzip)(identity), tag };
}

async function answerDocument(ctx: CoreContext, load: () => Promise<ServedDocument>): Promise<void> {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return refuseUnrouted(ctx, ['GET', 'HEAD']);
  const document = await load();
  const encoding = ctx.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity';
  ctx.set({ 'cache-control': 'no-cache', vary: 'accept-encoding', etag: `"${document.tag}-${encoding}"` });
  ctx.status = 200; // set before `fresh`, which reads it
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (encoding === 'gzip') ctx.set('content-encoding', 'gzip');
  ctx.type = 'application/json';
  ctx.body = document[encoding];
}

/** Loads a value at the first call and caches it; a failure is not cached. */
function once<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}
