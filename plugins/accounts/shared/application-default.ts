import { timeoutSignal } from '@gw2api/gateway/plugin';
import { untilAborted, type AccountHost } from '@gw2api/gateway/plugin/upstream';
import { unavailable, withoutToken, type GrantedToken } from './token-endpoint.js';

/** Package that finds the credentials of Google; an optional peer, imported where an account asks for it. */
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

/** Throws where the package is not installed. */
export function requireLibrary(): void {
  try {
    import.meta.resolve(library);
  } catch (cause) {
    const message = `applicationDefault needs the package ${library}, which is not installed; run: npm install ${library}`;
    throw new Error(message, { cause });
  }
}

/** Access token of the application default credentials: a file, the login of gcloud, or the machine's identity. */
export async function applicationDefaultToken(
  scope: string,
  { slot, clock }: AccountHost,
): Promise<GrantedToken> {
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
