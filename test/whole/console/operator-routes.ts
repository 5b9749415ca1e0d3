import type { Gateway } from '#src/gateway/gateway.js';
import { features } from '#src/features/index.js';
import { openOperators } from '#src/operator/operators.js';
import type { Route } from '#src/operator/route.js';

/** All routes of a gateway for its operators. */
export function operatorRoutes(gateway: Gateway): Promise<readonly Route[]> {
  return openOperators(gateway, features).routes();
}
