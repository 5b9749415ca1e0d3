import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OpenIdProvider {
  readonly issuer: string;
  close(): Promise<void>;
}

/** Groups and further claims of the people of a provider, by their login. */
export type People = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export const clientId = 'gw2api';
export const clientSecret = 'a-secret-of-the-provider';

/** An OpenID provider on a loopback address, with the forms for developers that `oidc-provider` brings. */
export async function startOpenIdProvider(
  publicUrl: string,
  people: People,
  settings: object = {},
): Promise<OpenIdProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = await quietly(async () => makeProvider(issuer, publicUrl, people, settings));
  const answer = provider.callback();
  server.on('request', (req, res) => void answer(req, res));
  return { issuer, close: () => closeServer(server) };
}

async function makeProvider(issuer: string, publicUrl: string, people: People, settings: object) {
  const { Provider } = await import('oidc-provider');
  const seconds = 600;
  return new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${publicUrl}/api/panel/oidc/callback`],
        post_logout_redirect_uris: [`${publicUrl}/panel`],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, email: `${id}@example.com`, email_verified: true, ...people[id] }),
    }),
    cookies: { keys: ['of the test'] },
    ttl: { Interaction: seconds, Session: seconds, Grant: seconds, AccessToken: seconds, IdToken: seconds },
    ...settings,
  });
}

/** Runs what warns of its forms for developers and of old versions of Node, which a test takes as they are. */
async function quietly<Result>(run: () => Promise<Result>): Promise<Result> {
  const { warn, info } = console; // oxlint-disable-line no-console
  Object.assign(console, { warn: () => undefined, info: () => undefined });
  try {
    return await run();
  } finally {
    Object.assign(console, { warn, info });
  }
}

export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await closeServer(server);
  return port;
}
