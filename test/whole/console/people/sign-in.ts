import { startGateway, type GatewayUnderTest } from '../../harness.js';
import type { CookieBrowser, Visited } from './cookie-browser.js';
import { clientId, clientSecret, freePort } from './openid-provider.js';

/** A gateway whose public address is its own, with an OpenID provider. */
export interface WithProvider extends GatewayUnderTest {
  readonly nowIs: (ms: number) => void;
}

/** Starts a gateway at `port` whose console takes logins of `issuer`. */
export async function startWithProvider(
  port: number,
  issuer: string,
  oidc: object = {},
  config: object = {},
): Promise<WithProvider> {
  let shiftMs = 0;
  const publicUrl = `http://127.0.0.1:${port}`;
  const panel = {
    publicUrl,
    oidc: { issuer, clientId, clientSecret, adminGroups: ['ops'], viewerGroups: ['staff'], ...oidc },
  };
  const under = await startGateway(
    {
      listen: { host: '127.0.0.1', port },
      slots: [{ id: 'a', upstream: 'simulator' }],
      panel,
      ...config,
    },
    {},
    () => Date.now() + shiftMs,
  );
  return { ...under, nowIs: (ms) => void (shiftMs = ms) };
}

export { freePort };

/** Signs a person in at the forms of the provider; ends at the callback, or before it. */
export async function signIn(
  browser: CookieBrowser,
  gatewayUrl: string,
  person: string,
  { returnTo = '', until }: { readonly returnTo?: string; readonly until?: RegExp } = {},
): Promise<Visited> {
  const query = returnTo === '' ? '' : `?${new URLSearchParams({ return: returnTo }).toString()}`;
  const login = await browser.visit(`${gatewayUrl}/api/panel/oidc/login${query}`);
  const consent = await browser.submit(
    formOf(login),
    { prompt: 'login', login: person, password: 'x' },
    until,
  );
  if (!consent.url.includes('/interaction/')) return consent;
  return browser.submit(formOf(consent), { prompt: 'consent' }, until);
}

/** Address that the form of a page sends to. */
function formOf({ text, url }: Visited): string {
  const [, action] = /<form[^>]* action="([^"]+)"/.exec(text) ?? [];
  if (action === undefined) throw new Error(`no form at ${url}: ${text}`);
  return new URL(action, url).href;
}
