import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A real token endpoint: the nth grant is `access-n` and `refresh-n`, for an hour. */
export class TokenEndpoint {
  readonly requests: string[] = [];
  readonly paths = new Set<string | undefined>();
  readonly contentTypes = new Set<string | undefined>();
  answer: { status: number; body: unknown } | undefined;
  readonly #server: Server;
  #gate: Promise<unknown> = Promise.resolve();

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#grant(request, response);
    });
  }

  static async open(): Promise<TokenEndpoint> {
    const endpoint = new TokenEndpoint();
    endpoint.#server.listen(0, '127.0.0.1');
    await once(endpoint.#server, 'listening');
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/token`; // it listens on a port
  }

  /** Keeps answers back until what it returns is called. */
  hold(): () => void {
    this.#gate = once(this.#server, 'release');
    return () => this.#server.emit('release');
  }

  async asked(): Promise<void> {
    if (this.requests.length === 0) await once(this.#server, 'asked');
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #grant(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.paths.add(request.url);
    this.contentTypes.add(request.headers['content-type']);
    this.requests.push(await text(request));
    this.#server.emit('asked');
    await this.#gate;
    const number = this.requests.length;
    const grant = { access_token: `access-${number}`, refresh_token: `refresh-${number}`, expires_in: 3600 };
    const { status, body } = this.answer ?? { status: 200, body: grant };
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }
}
