import type { RoutesOf } from '../../operator/route-source.js';
import { keyRoutes } from './keys.js';
import { teamRoutes } from './teams.js';

/** Routes of keys and teams. */
export const panelRoutes: RoutesOf = (gateway, shared) => [
  ...keyRoutes(gateway, shared),
  ...teamRoutes(gateway, shared),
];
