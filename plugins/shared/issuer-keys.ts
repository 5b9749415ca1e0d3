import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { externalFetch, timeoutSignal, type Host, type TlsSettings } from '@gw2api/gateway/plugin';
import { collectBytes } from '@gw2api/gateway/plugin/raw';

/** Set of keys (JWKS) at a URL. While that cannot be read, the keys of the last read serve for `maxStaleMs`. */
export class IssuerKeys {
  readonly #url: URL;
  readonly #host: Pick<Host, 'log' | 'now' | 'clock'>;
  readonly #maxStaleMs: number;
  readonly #fetch: ReturnType<typeof externalFetch>;
  #keys: ReturnType<typeof createLocalJWKSet> | undefined;
  #readAtMs = 0;
  #triedAtMs = -Infinity;
  /** Error of the last read; undefined: it succeeded. */
  #fault: unknown;
  #reading: Promise<void> | undefined;

  /** Throws an Error for a URL with a user or a password, which `fetch` refuses. */
  constructor(
    url: URL,
    host: Pick<Host, 'log' | 'now' | 'clock'>,
    { maxStaleMs, tls }: { readonly maxStaleMs: number; readonly tls?: TlsSettings | undefined },
  ) {
    if (url.username || url.password)
      throw new Error('with.jwks has a user or a password, which fetch refuses; remove them from the URL');
    this.#url = url;
    this.#host = host;
    this.#maxStaleMs = maxStaleMs;
    this.#fetch = externalFetch(tls);
  }

  /**
   * Key of a token: reads the set with the first one, after ten minutes and for an unknown key. Throws the error of a
   * required read, and the error of jose if there is no key.
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const { now } = this.#host;
    if (now() - this.#readAtMs >= maxAgeMs) await this.#readSoon();
    if (!this.#keys || now() - this.#readAtMs > Math.max(maxAgeMs, this.#maxStaleMs)) throw this.#fault;
    try {
      return await this.#keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#readSoon();
      if (this.#fault !== undefined) throw this.#fault; // its key may be a new one
      return this.#keys(header, token);
    }
  };

  /** Reads the keys once for all waiting requests; at most every 30 s, unless none are known. */
  async #readSoon(): Promise<void> {
    if (this.#keys && this.#host.now() - this.#triedAtMs < cooldownMs) return;
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { log, now, clock } = this.#host;
    this.#triedAtMs = now();
    try {
      this.#keys = createLocalJWKSet(
        await fetchKeys(this.#fetch, this.#url, timeoutSignal(clock, timeoutMs)),
      ); // throws if it is not a key set
      this.#readAtMs = now();
      this.#fault = undefined;
    } catch (error) {
      this.#fault = error;
      if (!this.#keys) return;
      const ageSeconds = Math.round((now() - this.#readAtMs) / 1000);
      log.warn(
        { err: error, ageSeconds },
        'The keys of the token issuer cannot be read; the last ones stay in use.',
      );
    }
  }
}

const maxAgeMs = 600_000;
const cooldownMs = 30_000;
const timeoutMs = 5000;
const maxKeysBytes = 1_048_576;

async function fetchKeys(
  fetch: ReturnType<typeof externalFetch>,
  url: URL,
  signal: AbortSignal,
): Promise<JSONWebKeySet> {
  const headers = { accept: 'application/json' };
  const { body, status } = await fetch(url, { redirect: 'manual', signal, headers });
  const tooLarge = () => new Error(`The keys of ${url.origin} are larger than ${maxKeysBytes} bytes.`);
  const bytes = body ? await collectBytes(body, maxKeysBytes, tooLarge) : Buffer.alloc(0);
  if (status !== 200)
    throw new Error(`${url.origin} answered the request for its keys with status ${status}.`);
  return JSON.parse(bytes.toString()) as JSONWebKeySet; // jose checks its shape
}
