import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';
import {
  defineAccount,
  type AccountHost,
  type OAuthTokens,
  type SchemaError,
  type TokenStore,
} from '@gw2api/gateway/plugin/upstream';
import { secretErrors, urlErrors } from './shared/option-errors.js';
import { digestOf, TokenAccount } from './shared/token-account.js';
import { requestToken } from './shared/token-endpoint.js';

const Secret = Type.String({ minLength: 1, secret: true });

const options = Type.Object(
  {
    accessToken: Secret,
    refreshToken: Secret,
    tokenUrl: Type.String({ minLength: 1, title: 'Token URL' }),
    clientId: Type.String({ minLength: 1 }),
    clientSecret: Type.Optional({ ...Secret, description: 'Only where the provider issues one.' }),
    expiresAt: Type.Optional(
      Type.Unsafe<string | number>({
        type: ['string', 'number'],
        description: 'A time, or unix milliseconds. Without it only a 401 refreshes.',
      }),
    ),
  },
  { title: 'OAuth', description: 'Only for accounts whose provider permits this use.' },
);

type Options = Static<typeof options>;

/** An OAuth account, whose access token expires and is refreshed by RFC 6749 §6. */
export default defineAccount({
  name: 'oauth',
  api: 1,
  options,
  reports: 'windows',
  check,
  open: (settings, host) => open(trimmed(settings), host),
});

function check({ accessToken, tokenUrl, expiresAt }: Options): readonly SchemaError[] {
  const isTime = expiresAt === undefined || timeMs(expiresAt) !== undefined;
  const time = `must be a time such as 2026-01-01T12:00:00Z, or unix milliseconds, not ${JSON.stringify(expiresAt)}`;
  return [
    ...secretErrors('accessToken', accessToken),
    ...urlErrors('tokenUrl', tokenUrl),
    ...(isTime ? [] : [{ path: ['expiresAt'], message: time }]),
  ];
}

function trimmed({ accessToken, refreshToken, clientId, clientSecret, ...rest }: Options): Options {
  return {
    ...rest,
    accessToken: accessToken.trim(),
    refreshToken: refreshToken.trim(),
    clientId: clientId.trim(),
    ...(clientSecret !== undefined && { clientSecret: clientSecret.trim() }),
  };
}

/** Unix milliseconds of an ISO time, or of a number in milliseconds. */
function timeMs(time: string | number): number | undefined {
  const ms = /^\d+$/.test(String(time)) ? Number(time) : Date.parse(String(time));
  return Number.isFinite(ms) ? ms : undefined;
}

function open(settings: Options, host: AccountHost): Promise<TokenAccount> {
  const first = firstTokens(settings);
  const terms = {
    origin: digestOf(settings.refreshToken),
    first,
    isRepeatable: false,
    grant: (old: Pick<OAuthTokens, 'refreshToken'> = first, store: TokenStore) =>
      exchange(settings, old.refreshToken, store, host),
  };
  return TokenAccount.open(terms, host);
}

/** Exchanges a refresh token, which no other instance may use meanwhile. */
async function exchange(
  { tokenUrl, clientId, clientSecret }: Options,
  refreshToken: string,
  store: TokenStore,
  host: AccountHost,
): Promise<Omit<OAuthTokens, 'origin'>> {
  store.use(refreshToken);
  const fields = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
  const form = clientSecret ? { ...fields, client_secret: clientSecret } : fields;
  let next = refreshToken;
  try {
    const granted = await requestToken({ tokenUrl, form, cure: () => signIn }, host);
    next = granted.refreshToken ?? refreshToken;
    return { ...granted, refreshToken: next };
  } finally {
    if (next === refreshToken) store.reuse(refreshToken);
  }
}

const signIn = 'sign its account in again and put the new tokens into the config';

function firstTokens(config: Options): Omit<OAuthTokens, 'origin'> {
  const { accessToken, refreshToken, expiresAt } = config;
  const expiresAtMs = expiresAt === undefined ? undefined : timeMs(expiresAt);
  return { accessToken, refreshToken, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
}
