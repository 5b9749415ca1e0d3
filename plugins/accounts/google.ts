import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Static } from 'typebox';
import { Type, timeoutSignal } from '@gw2api/gateway/plugin';
import { defineAccount, type AccountHost, jsonFields, untilAborted } from '@gw2api/gateway/plugin/upstream';
import { SignJWT } from 'jose';
import { oneOfErrors } from './shared/option-errors.js';
import { secretFile } from './shared/secret-file.js';
import { digestOf, TokenAccount } from './shared/token-account.js';
import { requestToken, withoutToken, type GrantedToken, unavailable } from './shared/token-endpoint.js';

const options = Type.Object(
  {
    key: Type.Optional(
      Type.String({
        minLength: 1,
        secret: true,
        title: 'Service account key',
        description: 'In place of keyFile: the JSON itself.',
      }),
    ),
    keyFile: Type.Optional(
      Type.String({
        minLength: 1,
        local: true,
        title: 'Key file',
        description: 'File with the key of a service account (JSON), read again for each token.',
      }),
    ),
    applicationDefault: Type.Optional(
      Type.Literal(true, {
        local: true,
        description:
          'In place of keyFile: the application default credentials (GOOGLE_APPLICATION_CREDENTIALS, the login of gcloud, or the identity of the machine). Needs the package google-auth-library: npm install google-auth-library',
      }),
    ),
    scope: Type.String({
      minLength: 1,
      default: 'https://www.googleapis.com/auth/cloud-platform',
      description: 'What the tokens are for.',
    }),
    quotaProject: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9.:-]{1,100}$',
        description: 'Project to bill, if it is not that of the service account. Default: none.',
      }),
    ),
  },
  { title: 'Google Cloud', description: 'A service account, or the application default credentials.' },
);

type Options = Static<typeof options>;

/** An account of Google Cloud: access tokens of a service account, or of the application default credentials. */
export default defineAccount({
  name: 'google',
  api: 1,
  options,
  check: (settings) => oneOfErrors(settings, ['key', 'keyFile', 'applicationDefault']),
  async open(settings, host) {
    const { quotaProject } = settings;
    const terms = {
      origin: digestOf(JSON.stringify(settings)),
      isRepeatable: true,
      grant: async () => ({ refreshToken: '', ...(await tokenOf(settings, host)) }),
      start: () => (host.dry ? undefined : start(settings, host)),
      ...(quotaProject !== undefined && { headers: { 'x-goog-user-project': quotaProject } }),
    };
    return TokenAccount.open(terms, host);
  },
});

/** Finds the credentials that the tokens are made with; throws if they are missing. */
async function start(settings: Options, host: AccountHost): Promise<void> {
  if (settings.applicationDefault) requireLibrary();
  else await serviceKey(settings, host);
}

function tokenOf(settings: Options, host: AccountHost): Promise<GrantedToken> {
  if (host.dry) return exchange(googleTokenUrl, 'dry-run', host);
  return settings.applicationDefault
    ? applicationDefaultToken(settings.scope, host)
    : serviceToken(settings, host);
}

async function serviceToken(settings: Options, host: AccountHost): Promise<GrantedToken> {
  const key = await serviceKey(settings, host);
  return exchange(key.tokenUrl, await assertionOf(key, settings.scope, host.now()), host);
}

function exchange(tokenUrl: string, assertion: string, host: AccountHost): Promise<GrantedToken> {
  const form = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion };
  return requestToken({ tokenUrl, form, cure: ({ error }) => cures[String(error)] ?? otherwise }, host);
}

const cures: Readonly<Record<string, string>> = {
  invalid_grant:
    'check that the key still belongs to its service account, and that the clock of this machine is right',
  invalid_scope: 'check its scope',
  unauthorized_client: 'check that the service account is allowed to use its scope',
};
const otherwise = 'check the key of its service account';

async function serviceKey({ key, keyFile = '' }: Options, host: AccountHost): Promise<ServiceKey> {
  if (key !== undefined) return readServiceKey('key', key);
  const text = await secretFile('keyFile', keyFile, host);
  try {
    return readServiceKey('keyFile', text);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'no key';
    throw withoutToken(host.slot.id, why, 'put the key of a service account there', error);
  }
}

/** Key of a Google service account. */
interface ServiceKey {
  readonly email: string;
  readonly tokenUrl: string;
  readonly keyId: string | undefined;
  readonly key: KeyObject;
}

/** Reads the JSON of a service account's key. Throws an Error that names the option, without secrets. */
function readServiceKey(option: string, json: string): ServiceKey {
  const { type, client_email, private_key, private_key_id, token_uri } = jsonFields(json);
  if (type === undefined) throw new Error(`${option} is not the JSON of a service account`);
  if (type !== 'service_account')
    throw new Error(
      `${option} is not the key of a service account; use applicationDefault for other credentials`,
    );
  if (typeof client_email !== 'string' || typeof private_key !== 'string')
    throw new Error(`${option} lacks client_email or private_key`);
  return {
    email: client_email,
    tokenUrl: typeof token_uri === 'string' ? token_uri : googleTokenUrl,
    keyId: typeof private_key_id === 'string' ? private_key_id : undefined,
    key: privateKey(option, private_key),
  };
}

function privateKey(option: string, pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch {
    // the message of OpenSSL would not help
  }
  throw new Error(`${option} has a private_key that is not an RSA key in PEM`);
}

const googleTokenUrl = 'https://oauth2.googleapis.com/token';

/** Signed assertion (RFC 7523) that a token endpoint of Google exchanges for an access token. */
function assertionOf(
  { email, tokenUrl, keyId, key }: ServiceKey,
  scope: string,
  nowMs: number,
): Promise<string> {
  const seconds = Math.floor(nowMs / 1000);
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
    .setIssuer(email)
    .setAudience(tokenUrl)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + 3600)
    .sign(key);
}

/** Package that finds the credentials of Google; an optional peer, imported on demand. */
const library = 'google-auth-library';

interface GoogleAuthModule {
  readonly GoogleAuth: new (options: { scopes: readonly string[] }) => {
    getClient(): Promise<GoogleClient>;
  };
}

interface GoogleClient {
  getAccessToken(): Promise<{ readonly token?: string | null }>;
  readonly credentials: { readonly expiry_date?: number | null };
}

/** Throws if the package is not installed. */
function requireLibrary(): void {
  try {
    import.meta.resolve(library);
  } catch (cause) {
    const message = `applicationDefault needs the package ${library}, which is not installed; run: npm install ${library}`;
    throw new Error(message, { cause });
  }
}

/** Access token of the application default credentials: a file, the login of gcloud, or the machine's identity. */
async function applicationDefaultToken(scope: string, { slot, clock }: AccountHost): Promise<GrantedToken> {
  const signal = timeoutSignal(clock, timeoutMs);
  const { GoogleAuth } = (await import(library)) as GoogleAuthModule;
  const client = await untilAborted(new GoogleAuth({ scopes: [scope] }).getClient(), signal).catch(
    (cause: unknown) => {
      const cure =
        'set GOOGLE_APPLICATION_CREDENTIALS, run "gcloud auth application-default login", or give the account a keyFile';
      throw withoutToken(slot.id, 'no application default credentials', cure, cause);
    },
  );
  try {
    const { token } = await untilAborted(client.getAccessToken(), signal);
    if (!token) throw new Error('no token');
    const { expiry_date: expiresAtMs } = client.credentials;
    return { accessToken: token, ...(expiresAtMs && { expiresAtMs }) };
  } catch (cause) {
    throw unavailable('upstream_unreachable', slot.id, `${library} got none`, cause);
  }
}

const timeoutMs = 30_000;
