import type { Clock, Logger } from '../../plugin/index.js';
import type {
  Credential,
  DiagnosisStep,
  HttpClient,
  OutgoingRequest,
  SlotSettings,
} from '../../plugin/upstream/index.js';
import type { HttpRequest, RequestTerms, UpstreamKind } from '../../plugin/core.js';
import { AddressGuard } from './address-guard.js';
import type { ReceivedAnswer } from './answer.js';
import { openEgress, type Connector, type Egress } from './connections.js';
import { diagnose } from './diagnose.js';
import { isClosedReuse, unsendable } from './failure.js';
import { lowerCase, requestHeaders, wrongHeader } from './headers.js';
import { HttpCall } from './http-call.js';

/** Settings of a client: those of its slot about the egress. */
export type ClientSettings = Pick<
  SlotSettings,
  'id' | 'proxy' | 'tls' | 'headers' | 'connectTimeoutMs' | 'isGuarded'
> & {
  readonly baseUrl: string;
  /** True: without a proxy of its own, that of the environment is used. */
  readonly usesEnvironment?: boolean;
  /** Default: the guard of the gateway, if `isGuarded`. */
  readonly guard?: AddressGuard;
  readonly log: Logger;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Default: TCP and TLS, through the proxy if there is one. */
  readonly connector?: Connector;
  /** Max connections at a time; default: no limit. */
  readonly connections?: number;
  /** Stand-in of its kind of upstream in a dry run. */
  readonly standIn?: UpstreamKind['standIn'];
  /**
   * Sees each request before it is sent, and returns headers to add; a retry on a fresh connection is the same request.
   */
  readonly onSend?: (request: SentRequest) => Readonly<Record<string, string>>;
};

/** A request as it is sent. */
export interface SentRequest extends Omit<OutgoingRequest, 'signal'> {
  /** Headers that the account has set; `headers` has them too. */
  readonly credential: Credential;
}

/** Opens the clients of slots, for their upstreams and for their accounts, and those of stages. */
export type OpenHttpClient = (settings: ClientSettings, use: 'upstream' | 'account' | 'stage') => HttpClient;

/** Opens a client, which connects on first use. Throws if `baseUrl` is not a URL. */
export function openHttpClient(settings: ClientSettings): HttpClient {
  return new SlotHttpClient(settings);
}

class SlotHttpClient implements HttpClient {
  readonly origin: string;
  readonly basePath: string;
  readonly #settings: ClientSettings;
  readonly #egress: Egress;
  /** Name of an invalid header in the slot's settings, if any. */
  readonly #wrongHeader: string | undefined;

  constructor(settings: ClientSettings) {
    const base = new URL(settings.baseUrl);
    this.origin = base.origin;
    this.basePath = base.pathname.replace(/(?<!\/)\/+$/, '');
    this.#settings = { ...settings, headers: lowerCase(settings.headers) };
    this.#wrongHeader = wrongHeader(this.#settings.headers);
    this.#egress = this.#openEgress();
  }

  /** Sends a request; retries once, on a new connection, if a reused one closed just as it went out. */
  async send(request: HttpRequest, terms: RequestTerms): Promise<ReceivedAnswer> {
    const call = await this.#prepare(request, terms);
    try {
      return await call().send(this.#egress);
    } catch (error) {
      if (!isClosedReuse(error)) throw error;
    }
    const fresh = this.#openEgress();
    try {
      return await call().send(fresh);
    } finally {
      void this.#close(fresh);
    }
  }

  fresh(): HttpClient {
    return new SlotHttpClient(this.#settings);
  }

  async diagnose(
    query: Parameters<HttpClient['diagnose']>[0],
    check?: HttpRequest,
  ): Promise<readonly DiagnosisStep[]> {
    const egress = this.#openEgress();
    const prepare = async (request: HttpRequest, terms: RequestTerms) =>
      (await this.#prepare(request, terms))();
    const { baseUrl, proxy } = this.#settings;
    try {
      return await diagnose({ ...query, base: new URL(baseUrl), proxy, egress, prepare, check });
    } finally {
      void this.#close(egress);
    }
  }

  close(): Promise<void> {
    return this.#close(this.#egress);
  }

  async #prepare(request: HttpRequest, terms: RequestTerms): Promise<() => HttpCall> {
    const { id, headers: slot, connectTimeoutMs, clock } = this.#settings;
    if (this.#wrongHeader !== undefined) throw unsendable(id, this.#wrongHeader);
    const { body, path, method = body === undefined ? 'GET' : 'POST', keyHeader } = request;
    const headers = requestHeaders(request, slot);
    const { signal, headersTimeoutMs = timeoutMs, idleTimeoutMs = timeoutMs, hasContent, progress } = terms;
    let credential: Credential = {};
    if (terms.authorize) {
      const { origin } = this;
      const outgoing: OutgoingRequest = { method, origin, path, headers, body, signal, keyHeader };
      credential = await terms.authorize(outgoing);
      for (const name in credential) headers[name.toLowerCase()] = credential[name] ?? '';
    }
    const added = this.#settings.onSend?.({ method, origin: this.origin, path, headers, body, credential });
    if (added) Object.assign(headers, added);
    const limits = { connectTimeoutMs, headersTimeoutMs, idleTimeoutMs, hasContent, clock, progress };
    return () => new HttpCall({ slot: id, method, path, headers, body, signal, ...limits });
  }

  #openEgress(): Egress {
    const { proxy, tls, connectTimeoutMs, isGuarded, connector, usesEnvironment = false } = this.#settings;
    const { connections } = this.#settings;
    const { guard = isGuarded ? new AddressGuard() : undefined } = this.#settings;
    return openEgress({
      origin: this.origin,
      connectTimeoutMs,
      guard,
      connector,
      usesEnvironment,
      ...(connections !== undefined && { connections }),
      ...(proxy ? { proxy } : {}),
      ...(tls ? { tls } : {}),
    });
  }

  /** Closes an egress once its calls have ended. */
  async #close(egress: Egress): Promise<void> {
    try {
      await egress.close();
    } catch (error) {
      this.#settings.log.warn({ slot: this.#settings.id, error }, 'A connection could not be closed.');
    }
  }
}

/** Default time limit for the head of an answer, and for silence within it. */
const timeoutMs = 30_000;
