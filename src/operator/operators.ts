import type { Operators } from '../gateway/app.js';
import type { Gateway } from '../gateway/gateway.js';
import { adminCaller, requireAdminScope } from './access/admin-caller.js';
import { Sessions } from './access/sessions.js';
import { adminApi } from './admin.js';
import { asOperator } from './audited-stage-route.js';
import { routeLoader } from './loaded-routes.js';
import { Names } from './names.js';
import { consoleApi } from './console-api.js';
import type { OperatorContext, Route } from './route.js';
import type { RouteSource, SharedServices } from './route-source.js';

interface OperatorApi extends Operators {
  /** All routes of `/admin` and of `/api/panel`. */
  readonly routes: () => Promise<readonly Route[]>;
}

/** APIs for the operators of a gateway, with the routes of its features. */
export function openOperators(gateway: Gateway, features: readonly RouteSource[]): OperatorApi {
  const { services } = gateway;
  const shared = shareWithin(gateway);
  const authenticate = ({ headers }: Pick<OperatorContext, 'headers'>) =>
    adminCaller(headers, services, '/admin/*');
  const authenticatePerson = (ctx: OperatorContext) => shared().sessions.authenticate(ctx);
  const sources = [overview, ...features];
  const parts = { gateway, shared, sources, authenticate };
  const [loadAdmin, loadConsole] = [routeLoader('admin', parts), routeLoader('panel', parts)];
  const admin = adminApi(loadAdmin, authenticate);
  return {
    middleware: [admin.middleware, consoleApi(loadConsole, authenticatePerson)],
    matchers: [admin],
    asOperator: asOperator(services, authenticatePerson),
    authorizeMetrics: (ctx) => requireAdminScope(ctx, services, 'metrics'),
    async routes() {
      const loaded = await Promise.all([loadAdmin(), loadConsole()]);
      return loaded.flatMap(({ routes }) => routes);
    },
  };
}

/** Routes about the gateway as a whole. */
const overview: RouteSource = { panel: async () => (await import('./status.js')).overviewRoutes };

/** Shared services of a gateway, opened at the first call. */
function shareWithin(gateway: Gateway): () => SharedServices {
  let shared: SharedServices | undefined;
  return () =>
    (shared ??= {
      sessions: new Sessions(gateway),
      names: new Names(gateway.services.store, gateway.services.now),
    });
}
