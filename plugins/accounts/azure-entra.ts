import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';
import { defineAccount, type AccountHost, type SchemaError } from '@gw2api/gateway/plugin/upstream';
import { oneOfErrors, urlErrors } from './shared/option-errors.js';
import { secretFile } from './shared/secret-file.js';
import { digestOf, TokenAccount } from './shared/token-account.js';
import { requestToken, type GrantedToken } from './shared/token-endpoint.js';

const options = Type.Object(
  {
    tenant: Type.String({ pattern: '^[A-Za-z0-9.-]{1,200}$', description: 'Id or domain of the directory.' }),
    clientId: Type.String({ minLength: 1, title: 'Client ID' }),
    clientSecret: Type.Optional(Type.String({ minLength: 1, secret: true })),
    tokenFile: Type.Optional(
      Type.String({
        minLength: 1,
        local: true,
        description:
          'In place of clientSecret: a file with the token of a federated identity, such as that of a Kubernetes workload, read again for each Entra token.',
      }),
    ),
    scope: Type.String({ minLength: 1, default: 'https://ai.azure.com/.default' }),
    authority: Type.String({
      minLength: 1,
      default: 'https://login.microsoftonline.com',
      description: 'Another one for a sovereign cloud.',
    }),
  },
  { title: 'Microsoft Entra', description: 'A service principal with a secret, or a federated identity.' },
);

type Options = Static<typeof options>;

/** A service principal of Microsoft Entra, by client credentials (RFC 6749 §4.4, RFC 7523 for a federated identity). */
export default defineAccount({
  name: 'azure-entra',
  api: 1,
  options,
  check,
  open(settings, host) {
    const terms = {
      origin: digestOf(JSON.stringify(settings)),
      isRepeatable: true,
      grant: async () => ({ refreshToken: '', ...(await tokenOf(settings, host)) }),
    };
    return TokenAccount.open(terms, host);
  },
});

function check(settings: Options): readonly SchemaError[] {
  return [
    ...oneOfErrors(settings, ['clientSecret', 'tokenFile']),
    ...urlErrors('authority', settings.authority),
  ];
}

async function tokenOf(settings: Options, host: AccountHost): Promise<GrantedToken> {
  const { tenant, clientId, scope, authority } = settings;
  const proof = await proofOf(settings, host);
  const form = { grant_type: 'client_credentials', client_id: clientId.trim(), scope, ...proof };
  const tokenUrl = `${authority.replace(/\/+$/, '')}/${tenant}/oauth2/v2.0/token`;
  return requestToken({ tokenUrl, form, cure }, host);
}

async function proofOf(
  { clientSecret, tokenFile = '' }: Options,
  host: AccountHost,
): Promise<Readonly<Record<string, string>>> {
  if (clientSecret !== undefined) return { client_secret: clientSecret.trim() };
  const assertion = host.dry ? 'dry-run' : await secretFile('tokenFile', tokenFile, host);
  return { client_assertion_type: assertionType, client_assertion: assertion };
}

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Advice by the error of Entra, with the number that its documentation lists. */
function cure({ error, error_codes: codes }: Readonly<Record<string, unknown>>): string {
  const [number] = Array.isArray(codes) ? (codes as unknown[]) : [];
  const advice = cures[String(error)] ?? 'check its tenant, clientId and secret';
  return Number.isSafeInteger(number) ? `${advice}: AADSTS${String(number)}` : advice;
}

const cures: Readonly<Record<string, string>> = {
  invalid_client: 'enter a clientSecret that has not expired: its value, not its id',
  unauthorized_client: 'check its clientId and tenant',
  invalid_request: 'check its tenant and scope',
  invalid_scope: 'check its scope, which ends in /.default',
  invalid_resource: 'check its scope, which ends in /.default',
};
