import { isGatewayError, type Host } from '@gw2api/gateway/plugin';
import { CallController, type CallSignal } from '@gw2api/gateway/plugin/raw';
import { signedHeaders } from '@gw2api/gateway/plugin/remote';
import type { HttpClient } from '@gw2api/gateway/plugin/upstream';
import type { Settings } from './options.js';

/** Question as it is sent. */
export interface Post {
  /** `webhook-id`. */
  readonly id: string;
  readonly body: string;
  /** Path below that of the URL; default none. */
  readonly path?: string;
}

/** HTTP client of the service of one stage, which connects with the first question. */
export class ServiceClient {
  readonly #settings: Settings;
  readonly #host: Pick<Host, 'clock' | 'connect'>;
  readonly #path: string;
  #client: Promise<HttpClient> | undefined;

  constructor(settings: Settings, host: Pick<Host, 'clock' | 'connect'>) {
    this.#settings = settings;
    this.#host = host;
    this.#path = settings.url.pathname.replace(/\/+$/, '');
  }

  /**
   * Text of the answer with status 200; from a guard of LiteLLM with any status of success. Throws an Error that says
   * what the service did, for any other answer, and after the time limit.
   */
  async post(post: Post, until: CallSignal): Promise<string> {
    const { timeoutMs, url } = this.#settings;
    const call = new CallController();
    const leave = (): void => call.abort(until.reason);
    if (until.aborted) leave();
    until.addEventListener('abort', leave);
    const late = () => new Error(`${url.origin} did not answer within ${timeoutMs / 1000} s`);
    const cancel = this.#host.clock.setTimer(() => call.abort(late()), timeoutMs);
    try {
      return await this.#send(post, call);
    } finally {
      cancel();
      until.removeEventListener('abort', leave);
    }
  }

  /** Throws the fault of the way to the service. */
  async probe(signal: AbortSignal): Promise<void> {
    const client = (await this.#open()).fresh();
    try {
      const steps = await client.diagnose({ signal });
      const failed = steps.find(({ ok }) => !ok);
      if (failed) throw new Error(`${this.#settings.url.origin}: ${failed.step}: ${failed.detail}`);
    } finally {
      await client.close();
    }
  }

  async #send(post: Post, signal: CallSignal): Promise<string> {
    const client = await this.#open();
    const answer = await this.#request(client, post, signal);
    if (!this.#isSuccess(answer.status)) {
      answer.drop();
      throw new Error(`${this.#settings.url.origin} answered with status ${answer.status}`);
    }
    const max = minReplyBytes + 2 * post.body.length;
    const text = await answer.text(max + 1);
    if (Buffer.byteLength(text) > max)
      throw new Error(`the reply of ${this.#settings.url.origin} is longer than ${max} bytes`);
    return text;
  }

  #isSuccess(status: number): boolean {
    return this.#settings.protocol === 'litellm' ? status >= 200 && status < 300 : status === 200;
  }

  /** A kept connection may have been closed by the service at the same moment: one retry. */
  async #request(client: HttpClient, { id, body, path = '' }: Post, signal: CallSignal) {
    const { url, timeoutMs } = this.#settings;
    const request = {
      path: `${this.#path}${path}${url.search}` || '/',
      headers: { accept: 'application/json', ...this.#proof(id, body) },
      body,
    };
    const limitMs = timeoutMs + 1000; // the call has a time limit of its own
    const terms = { signal, headersTimeoutMs: limitMs, idleTimeoutMs: limitMs };
    try {
      return await client.send(request, terms);
    } catch (error) {
      const failure = isGatewayError(error) ? error.failure : undefined;
      if (failure?.kind !== 'unreachable' || !failure.reused) throw error;
      return client.send(request, terms);
    }
  }

  /** A signature; or the API key that a guard of LiteLLM expects, in both headers in use. */
  #proof(id: string, body: string): Readonly<Record<string, string>> {
    const { protocol, secrets, keys } = this.#settings;
    if (protocol === 'gw2api') return signedHeaders({ id, atMs: this.#host.clock.now(), body }, keys);
    const [secret] = secrets;
    return secret === undefined ? {} : { 'x-api-key': secret, authorization: `Bearer ${secret}` };
  }

  /** Loads the HTTP client, so that no time limit runs meanwhile. */
  async load(): Promise<void> {
    await this.#open();
  }

  #open(): Promise<HttpClient> {
    const { url, tls } = this.#settings;
    this.#client ??= this.#host.connect(url.href, { tls });
    return this.#client;
  }
}

/** Max bytes of a reply beside twice those of its question, which it may send back. */
const minReplyBytes = 1_048_576;
