import type { Format } from '../../plugin/index.js';
import type { ServedRoute } from '../../plugin/core.js';
import type { CoreContext, CoreMiddleware } from './exchange.js';
import { isUnanswered, keyed, unanswered } from './keyed.js';
import type { RouteContext } from './route-context.js';

/** A path of a stage: through the stages of a format, or to the stage's own handler. */
export function stageRoute(
  serving: RouteContext,
  format: Format | undefined,
  route: ServedRoute,
): CoreMiddleware {
  const { operation, auth, page, handler } = route;
  if (!handler) return keyed(serving, operation, format);
  const handle = handler as unknown as CoreMiddleware; // Koa's own context type is wider
  return keyed(serving, operation, undefined, async (ctx) => {
    const work = async (): Promise<void> => {
      await handle(ctx, noNext);
      if (isUnanswered(ctx))
        throw unanswered(
          `The route ${route.method} ${route.path} of the stage ${JSON.stringify(route.stage)}`,
          ctx,
        );
    };
    await (auth === 'master' ? serving.asOperator(ctx, route.stage, work) : work());
    if (!ctx.headerSent) isolate(ctx, page !== undefined);
  });
}

const noNext = async (): Promise<void> => undefined;

/**
 * Keeps scripts of an answer away from the console, which has the same origin: a page is sandboxed in addition to its
 * own policy, another answer unless it has one.
 */
function isolate(ctx: CoreContext, isPage: boolean): void {
  const own = ctx.res.getHeader('content-security-policy');
  if (own === undefined) ctx.set('content-security-policy', sandbox);
  else if (isPage) ctx.set('content-security-policy', `${sandbox}, ${String(own)}`);
  if (isPage) ctx.set('x-frame-options', 'SAMEORIGIN');
  ctx.set('x-content-type-options', 'nosniff');
}

const sandbox = 'sandbox allow-scripts allow-forms';
