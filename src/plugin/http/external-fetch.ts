import type { Dispatcher } from 'undici';
import type { TlsSettings } from '../contract/slot/tls.js';

/** Variables of the environment that name a proxy; NO_PROXY names hosts that are reached without it. */
const variables = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'] as const;

/** True if the environment names a proxy. */
export function hasEnvironmentProxy(
  env: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  return variables.some((name) => Boolean(env[name]));
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Fetch for addresses beside those of slots (a login provider, keys of an issuer): through the proxy of the environment
 * (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), with its own TLS settings.
 */
export function externalFetch(tls?: TlsSettings): Fetch {
  let dispatcher: Promise<Dispatcher> | undefined;
  return async (url, init) => {
    if (!tls && !hasEnvironmentProxy()) return fetch(url, init);
    dispatcher ??= dispatcherOf(tls);
    const { fetch: fetchBy } = await import('undici');
    // The same class by another name: the runtime's own is an older copy of it.
    const options = { ...init, dispatcher: await dispatcher } as Parameters<typeof fetchBy>[1];
    return fetchBy(url, options) as Promise<unknown> as Promise<Response>;
  };
}

async function dispatcherOf(tls: TlsSettings = {}): Promise<Dispatcher> {
  const { Agent, buildConnector, EnvHttpProxyAgent } = await import('undici');
  const options = tlsOptions(tls);
  const { servername } = tls;
  const direct = buildConnector(options);
  const connect: typeof direct = (target, callback) =>
    direct(servername === undefined ? target : { ...target, servername }, callback);
  const requestTls = { ...options, ...(servername !== undefined && { servername }) };
  return hasEnvironmentProxy() ? new EnvHttpProxyAgent({ connect, requestTls }) : new Agent({ connect });
}

/** Options of a TLS connection, except for the name; a certificate that is trusted itself needs no issuer. */
export function tlsOptions({ ca, cert, key }: TlsSettings = {}): object {
  return {
    ...(ca !== undefined && { ca, allowPartialTrustChain: true }),
    ...(cert !== undefined && { cert, key }),
  };
}
