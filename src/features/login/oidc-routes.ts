import { Closed } from '../../kit/schema/type.js';
import { Type } from '../../plugin/index.js';
import type { Gateway } from '../../gateway/gateway.js';
import { route, type Route } from '../../operator/route.js';
import { Nullable } from '../../operator/schemas.js';
import type { OidcLogin } from './oidc-login.js';

/** Routes of a login with an OpenID provider, for browsers: they answer with redirects and pages. */
export function oidcRoutes(gateway: Gateway, login: OidcLogin): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/api/panel/login',
      summary: 'How people sign in to this console.',
      isOpen: true,
      answers: { 200: LoginWays },
      handle() {
        const { oidc, publicUrl = '' } = gateway.runtime.config.panel;
        const url = `${publicUrl}/api/panel/oidc/login`;
        return { password: oidc?.only !== true, oidc: oidc ? { label: oidc.label, url } : null };
      },
    }),
    route({
      method: 'GET',
      path: '/api/panel/oidc/login',
      summary: 'Sends a browser to the OpenID provider, to sign in there.',
      isOpen: true,
      query: Closed({
        return: Type.Optional(
          Type.String({ description: 'Page of the console to return to: `/panel/slots`.' }),
        ),
      }),
      answers: { 302: null },
      answersItself: true,
      handle: ({ ctx, query }) => login.guarded(ctx, () => login.begin(ctx, query.return)),
    }),
    route({
      method: 'GET',
      path: '/api/panel/oidc/callback',
      summary: 'Where the provider sends the browser back: opens a session, and goes on to the console.',
      isOpen: true,
      query: Type.Object({}),
      answers: { 200: Type.String() },
      answerType: 'text/html',
      answersItself: true,
      audit: 'session.login',
      noted: 'An operator logged in.',
      handle: ({ ctx, audit }) => login.guarded(ctx, () => login.finish(ctx, audit), audit),
    }),
  ];
}

/** The ways to sign in, as sent by the console API. */
export const LoginWays = Type.Object({
  password: Type.Boolean(),
  oidc: Nullable(
    Type.Object({
      label: Type.String(),
      url: Type.String({ description: 'Where a browser begins; takes `return`.' }),
    }),
  ),
});
