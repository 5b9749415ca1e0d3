import type { Gateway } from '../gateway/gateway.js';
import type { Sessions } from './access/sessions.js';
import type { Names } from './names.js';
import type { Route } from './route.js';

/** Services that the routes of a gateway share. */
export interface SharedServices {
  readonly sessions: Sessions;
  readonly names: Names;
}

/** Makes the routes of a feature for a gateway. */
export type RoutesOf = (gateway: Gateway, shared: SharedServices) => readonly Route[];

/** Routes of a feature, imported by the first request to one of their kind. */
export interface RouteSource {
  /** Of `/admin`, for scripts. */
  readonly admin?: () => Promise<RoutesOf>;
  /** Of `/api/panel`, for the console. */
  readonly panel?: () => Promise<RoutesOf>;
}
