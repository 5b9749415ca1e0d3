import type * as OpenIdClient from 'openid-client';
import type { CustomFetch } from 'openid-client';
import { type TlsSettings, externalFetch } from '../../plugin/index.js';
import type { Flow } from './flow.js';
import { isComplete, type Claims, type IdentityRules, type Sources } from './identity.js';
import { collectBytes } from '../../plugin/raw/index.js';

/** A provider, and this gateway as its client. */
export interface ProviderSettings extends IdentityRules {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  /** TLS of the connections to it, instead of the usual one. */
  readonly tls?: { readonly settings: TlsSettings };
}

/** Proof of a login: the provider's claims about a person, and their token. */
interface SignedIn {
  readonly sources: Sources;
  readonly idToken: string | undefined;
}

/**
 * An OpenID provider, whose metadata are read at the first login, and again after an hour. Every method may throw
 * errors of `openid-client`; `refusalOf` converts them to messages.
 */
export class Provider {
  readonly #settings: ProviderSettings;
  readonly #redirectUri: string;
  readonly #fetch: OpenIdClient.CustomFetch;
  readonly #now: () => number;
  #metadata: OpenIdClient.ServerMetadata | undefined;
  #readAtMs = -Infinity;
  #reading: Promise<OpenIdClient.ServerMetadata> | undefined;

  constructor(settings: ProviderSettings, redirectUri: string, now: () => number) {
    this.#settings = settings;
    this.#redirectUri = redirectUri;
    this.#fetch = boundedFetch(settings.tls?.settings);
    this.#now = now;
  }

  /** Begins a login: the address to send the browser to, and the secrets of its flow. */
  async begin(): Promise<{ readonly url: string; readonly secrets: Omit<Flow, 'returnTo'> }> {
    const client = await import('openid-client');
    const configuration = await this.#configure(client);
    const verifier = client.randomPKCECodeVerifier();
    const secrets = { state: client.randomState(), nonce: client.randomNonce(), verifier };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri,
      scope: this.#settings.scopes.join(' '),
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state: secrets.state,
      nonce: secrets.nonce,
    });
    return { url: url.href, secrets };
  }

  /** Exchanges the code of a callback with the query `query`, and checks the result. */
  async finish(query: string, { state, nonce, verifier }: Flow): Promise<SignedIn> {
    const client = await import('openid-client');
    const configuration = await this.#configure(client);
    const tokens = await client.authorizationCodeGrant(
      configuration,
      new URL(`${this.#redirectUri}?${query}`),
      {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      },
    );
    const claims: Claims = { ...tokens.claims() };
    const idToken = tokens.id_token;
    if (isComplete([claims], this.#settings) || !configuration.serverMetadata().userinfo_endpoint)
      return { sources: [claims], idToken };
    const info = await client.fetchUserInfo(configuration, tokens.access_token, String(claims['sub']));
    return { sources: [claims, info], idToken };
  }

  /** Logout page of the provider; undefined if it advertises none. */
  async endSessionUrl(returnTo: string, idToken: string | undefined): Promise<string | undefined> {
    const client = await import('openid-client');
    const configuration = await this.#configure(client);
    if (!configuration.serverMetadata().end_session_endpoint) return undefined;
    const hint = idToken !== undefined && { id_token_hint: idToken };
    return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnTo, ...hint }).href;
  }

  /** Client of one login; its metadata are a copy, so that the keys of the provider are read again each time. */
  async #configure(client: typeof OpenIdClient): Promise<OpenIdClient.Configuration> {
    const { clientId, clientSecret } = this.#settings;
    const metadata = await this.#read(client);
    const configuration = new client.Configuration(
      { ...metadata },
      clientId,
      { client_secret: clientSecret },
      authentication(client, clientSecret),
    );
    configuration.timeout = timeoutSeconds;
    configuration[client.customFetch] = this.#fetch;
    client.enableNonRepudiationChecks(configuration); // the signature, which TLS would make dispensable
    if (this.#isPlain) client.allowInsecureRequests(configuration);
    return configuration;
  }

  /** Metadata of the provider; old ones if new ones cannot be read. */
  async #read(client: typeof OpenIdClient): Promise<OpenIdClient.ServerMetadata> {
    if (this.#metadata && this.#now() - this.#readAtMs < freshMs) return this.#metadata;
    this.#reading ??= this.#discover(client).finally(() => void (this.#reading = undefined));
    if (!this.#metadata) return this.#reading;
    const known = this.#metadata;
    return this.#reading.catch(() => known);
  }

  async #discover(client: typeof OpenIdClient): Promise<OpenIdClient.ServerMetadata> {
    const { issuer, clientId } = this.#settings;
    const found = await client.discovery(new URL(issuer), clientId, undefined, undefined, {
      timeout: timeoutSeconds,
      [client.customFetch]: this.#fetch,
      ...(this.#isPlain && { execute: [client.allowInsecureRequests] }),
    });
    this.#metadata = { ...found.serverMetadata() };
    this.#readAtMs = this.#now();
    return this.#metadata;
  }

  /** True for plain HTTP, which the config allows only on loopback addresses. */
  get #isPlain(): boolean {
    return this.#settings.issuer.startsWith('http:');
  }
}

/** Time limit of one request to the provider, with its answer. */
const timeoutSeconds = 5;
const freshMs = 3_600_000;

/** The provider's way of proving the secret; by default, the one of the standard. */
function authentication(client: typeof OpenIdClient, secret: string): OpenIdClient.ClientAuth {
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server;
    (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** Max bytes of an answer of the provider, decompressed. */
const maxBytes = 1024 * 1024;

/** Error of an answer that exceeds the limit. */
class OversizedAnswer extends Error {}

/** Fetch for `openid-client` that reads the whole answer, up to a limit, within the time of the signal. */
function boundedFetch(tls?: TlsSettings): CustomFetch {
  const fetchFrom = externalFetch(tls);
  return async (url, { body, ...options }) => whole(await fetchFrom(url, { ...options, body: body ?? null }));
}

async function whole(response: Response): Promise<Response> {
  const bytes = await readAll(response);
  const { status, headers } = response;
  return new Response(bytes.length === 0 ? null : bytes, { status, headers });
}

async function readAll({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => new OversizedAnswer(`it is larger than ${maxBytes / 1024} kB`);
  return Uint8Array.from(body ? await collectBytes(body, maxBytes, tooLarge) : []);
}
