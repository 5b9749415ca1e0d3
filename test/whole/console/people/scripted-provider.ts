import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { clientId, closeServer } from './openid-provider.js';

/** What the provider says; each field may be changed between two requests. */
export interface Script {
  /** Fields above those of valid metadata. */
  metadata: object;
  /** Claims above those of a valid ID token for the nonce. */
  claims: Readonly<Record<string, unknown>>;
  userinfo: Readonly<Record<string, unknown>>;
  /** Answers in place of the usual ones, by path. */
  answers: Readonly<Record<string, (res: ServerResponse) => void>>;
  /** The key that signs is not among those that are published. */
  signsWithOther: boolean;
}

export interface ScriptedProvider {
  readonly issuer: string;
  readonly script: Script;
  /** Requests so far, `GET /jwks`. */
  readonly requests: readonly string[];
  /** Has a new key with a new id from now on. */
  rotate(): Promise<void>;
  close(): Promise<void>;
}

/** Query of the callback with which a provider answers the address that a login went to. */
export function callbackQuery(loginUrl: string): string {
  const { searchParams } = new URL(loginUrl);
  return new URLSearchParams({
    code: nonceCode(searchParams.get('nonce')!),
    state: searchParams.get('state')!,
  }).toString();
}

/** The code of the provider is the nonce, which it needs for the token. */
function nonceCode(nonce: string): string {
  return `code.${nonce}`;
}

/** A provider for faults that a correct one does not have. */
export async function startScriptedProvider(): Promise<ScriptedProvider> {
  const script: Script = { metadata: {}, claims: {}, userinfo: {}, answers: {}, signsWithOther: false };
  const requests: string[] = [];
  let keys = await keysOf('published', 'first');
  const other = await keysOf('other', 'first');
  const server = createServer((req, res) => void answer(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url!.split('?')[0]!;
    requests.push(`${req.method} ${path}`);
    const body = await textOf(req);
    if (script.answers[path]) return script.answers[path](res);
    const json = (value: object) =>
      res.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    if (path === '/.well-known/openid-configuration') json({ ...metadataOf(issuer), ...script.metadata });
    else if (path === '/jwks') json({ keys: [keys.jwk] });
    else if (path === '/userinfo') json({ sub: 'ada', ...script.userinfo });
    else if (path === '/token') json(await tokens(new URLSearchParams(body)));
    else res.writeHead(404).end();
  }

  async function tokens(form: URLSearchParams): Promise<object> {
    const nonce = form.get('code')!.replace(/^code\./, '');
    const seconds = Math.floor(Date.now() / 1000);
    const valid = { iss: issuer, aud: clientId, sub: 'ada', iat: seconds, exp: seconds + 300, nonce };
    const claims = { ...valid, email: 'ada@example.com', groups: ['ops'], ...script.claims };
    const key = script.signsWithOther ? other : keys;
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: key.jwk.kid })
      .sign(key.privateKey);
    return { access_token: 'access', token_type: 'Bearer', expires_in: 300, id_token: token };
  }

  return {
    issuer,
    script,
    requests,
    rotate: async () => void (keys = await keysOf('new', 'second')),
    close: () => closeServer(server),
  };
}

function metadataOf(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  };
}

/** Keys of a use, which all providers of this process share: to make RSA keys takes longer than a test. */
function keysOf(use: string, kid: string): Promise<Keys> {
  const keys = made.get(use) ?? makeKeys(kid);
  made.set(use, keys);
  return keys;
}

const made = new Map<string, Promise<Keys>>();

type Keys = Awaited<ReturnType<typeof makeKeys>>;

async function makeKeys(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } };
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
