import { once } from '../../kit/once.js';
import type { Feature } from '../feature.js';

/** Description of the API at `/openapi.json`. */
export const openapi: Feature = {
  name: 'openapi',
  middleware(gateway, routes) {
    const load = once(async () => (await import('./served.js')).serveDocument(gateway, routes));
    return async (ctx, next) => {
      if (/^\/openapi\.json\/?$/i.test(ctx.path)) await (await load())(ctx);
      else await next();
    };
  },
};
