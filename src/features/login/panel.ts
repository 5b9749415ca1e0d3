import type { RoutesOf } from '../../operator/route-source.js';
import { OidcLogin } from './oidc-login.js';
import { oidcRoutes } from './oidc-routes.js';
import { sessionListRoutes } from './session-list.js';
import { sessionRoutes } from './session-routes.js';

/** Routes of login, logout and sessions. */
export const panelRoutes: RoutesOf = (gateway, { sessions }) => {
  const oidc = new OidcLogin(gateway, sessions);
  return [
    ...sessionRoutes(sessions, oidc),
    ...oidcRoutes(gateway, oidc),
    ...sessionListRoutes(gateway, sessions),
  ];
};
