import type { Actor } from '#src/state/store/contract/actor.js';
import { newToken, SessionTokens, sha256 } from '#src/operator/access/session-tokens.js';
import { masterKey, type GatewayUnderTest } from '../harness.js';

/** Headers of a console session of `actor`, put into the store as a login would. */
export async function sessionOf(
  { gateway }: GatewayUnderTest,
  actor: Actor,
  { password = masterKey, lastsMs = 3_600_000, subject = actor.name } = {},
): Promise<{ readonly cookie: string; readonly 'x-csrf-token': string }> {
  const { store, clock } = gateway.services;
  const tokens = new SessionTokens(password);
  const [token, csrf] = [tokens.make(actor.kind), newToken()];
  await store.sessions.put({
    tokenHash: tokens.hash(token),
    csrfHash: sha256(csrf).toString('hex'),
    actor,
    ...(actor.kind === 'oidc' && { subject: { issuer: 'http://127.0.0.1:1', id: subject } }),
    createdAtMs: clock.now(),
    expiresAtMs: clock.now() + lastsMs,
  });
  return { cookie: `gw_session=${token}; gw_csrf=${csrf}`, 'x-csrf-token': csrf };
}

/** Config of a console that takes logins by OpenID Connect; nothing is at that address. */
export const withOidc = {
  panel: {
    publicUrl: 'http://127.0.0.1:8787',
    oidc: {
      issuer: 'http://127.0.0.1:1',
      clientId: 'gw2api',
      clientSecret: 'a-secret-of-the-provider',
      viewerGroups: ['*'],
    },
  },
};

export const aViewer: Actor = { kind: 'oidc', name: 'vera@example.com', role: 'viewer' };
export const anAdmin: Actor = { kind: 'oidc', name: 'ada@example.com', role: 'admin' };
