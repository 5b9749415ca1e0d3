import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { basePathOf } from '../../config/public-url.js';
import type { CoreContext } from '../../engine/http/exchange.js';
import { refuseUnrouted } from '../../engine/http/unrouted.js';
import type { Gateway } from '../../gateway/gateway.js';
import { perRuntime } from '../../gateway/runtime.js';
import { once } from '../../kit/once.js';
import { cookieName, sessionCookie } from '../../operator/access/cookies.js';
import type { Route } from '../../operator/route.js';

/** Answers with the document, built by the first request to it; `loadRoutes`: routes for operators. */
export function serveDocument(
  gateway: Gateway,
  loadRoutes: () => Promise<readonly Route[]>,
): (ctx: CoreContext) => Promise<void> {
  const documentOf = perRuntime(({ formats, pipeline, config }) =>
    once(async () => {
      const [{ openApiDocument }, routes] = await Promise.all([import('./document.js'), loadRoutes()]);
      const place = servedPlace(config.panel.publicUrl);
      return served(JSON.stringify(openApiDocument(formats, pipeline.routes, routes, place)));
    }),
  );
  return (ctx) => answerDocument(ctx, documentOf(gateway.runtime));
}

/** Place of a gateway as its document describes it. */
function servedPlace(publicUrl: string | undefined) {
  const basePath = basePathOf(publicUrl);
  const place = { path: basePath || '/', isSecure: publicUrl?.startsWith('https:') === true };
  return { basePath, sessionCookie: cookieName(sessionCookie, place) };
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
