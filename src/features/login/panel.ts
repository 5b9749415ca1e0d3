import type { RoutesOf } from '../../operator/route-source.js';
import { OidcLogin } from './oidc-login.js';
import { oidcRoutes } from './oidc-routes.js';
import { sessionListRoutes } from './session-list.js';
import { Closed } from '../../kit/schema/type.js';
import { Type } from '../../plugin/index.js';
import { route, type Route } from '../../operator/route.js';
import { IsoTime, isoTime, SessionReport } from '../../operator/schemas.js';
import type { Sessions } from '../../operator/access/sessions.js';

/** Routes of login, logout and sessions. */
export const panelRoutes: RoutesOf = (gateway, { sessions }) => {
  const oidc = new OidcLogin(gateway, sessions);
  return [
    ...sessionRoutes(sessions, oidc),
    ...oidcRoutes(gateway, oidc),
    ...sessionListRoutes(gateway, sessions),
  ];
};

/** Routes for login, logout and the current session. */
function sessionRoutes(sessions: Sessions, oidc: OidcLogin): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/api/panel/login',
      summary: 'Opens a console session of 12 hours, in the cookies gw_session and gw_csrf.',
      isOpen: true,
      audit: 'session.login',
      noted: 'An operator logged in.',
      body: Closed({ password: Type.String({ maxLength: 1000 }) }),
      maxBodyBytes: 16 * 1024,
      answers: { 200: Type.Object({ expires_at: IsoTime, csrf_token: Type.String() }) },
      async handle({ ctx, body }) {
        const { expiresAtMs, csrfToken } = await sessions.logIn(ctx, body.password);
        return { expires_at: isoTime(expiresAtMs), csrf_token: csrfToken };
      },
    }),
    route({
      method: 'POST',
      path: '/api/panel/logout',
      summary: 'Ends the session; where the OpenID provider has a logout too, says where.',
      role: 'viewer',
      audit: 'session.logout',
      noted: 'An operator logged out.',
      answers: { 200: Logout, 204: null },
      async handle({ ctx, actor }) {
        await sessions.logOut(ctx);
        const url = actor.kind === 'oidc' ? await oidc.endSessionUrl(ctx) : undefined;
        return url === undefined ? undefined : { continue_to: url };
      },
    }),
    route({
      method: 'GET',
      path: '/api/panel/session',
      summary: 'Who is asking.',
      answers: { 200: SessionReport },
      handle: ({ actor, session }) => ({
        kind: session ? 'session' : 'master',
        actor,
        expires_at: isoTime(session?.expiresAtMs),
      }),
    }),
  ];
}

const Logout = Type.Object({
  continue_to: Type.String({ description: 'Where a browser goes to sign out of the provider.' }),
});
