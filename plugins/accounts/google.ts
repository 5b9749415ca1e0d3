import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';
import { defineAccount, type AccountHost } from '@gw2api/gateway/plugin/upstream';
import { applicationDefaultToken, requireLibrary } from './shared/application-default.js';
import { digestOf } from './shared/digest.js';
import { oneOfErrors } from './shared/one-of.js';
import { secretFile } from './shared/secret-file.js';
import { assertionOf, googleTokenUrl, readServiceKey, type ServiceKey } from './shared/service-key.js';
import { TokenAccount } from './shared/token-account.js';
import { requestToken, withoutToken, type GrantedToken } from './shared/token-endpoint.js';

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
        description: 'File with the key of a service account (JSON), read anew for each token.',
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
        description: 'Project that is billed, where it is not that of the service account. Default none.',
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

/** Finds what the tokens are made with; throws where it is not there. */
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
  invalid_grant: 'check that the key is still one of its service account, and the clock of this machine',
  invalid_scope: 'check its scope',
  unauthorized_client: 'check that the service account may be used for its scope',
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
