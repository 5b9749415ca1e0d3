import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly body: object | string;
}

/**
 * A token endpoint that rotates: the nth grant is `access-n` and `refresh-n`, and only the refresh token of the last one
 * (at first `refresh-0`) is taken, once.
 */
export class TokenEndpoint {
  /** The refresh tokens that were sent, in order. */
  readonly sent: string[] = [];
  /** What it answers in place of a grant. */
  answer: Answer | undefined;
  expiresInSeconds = 3600;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch((error: Error) => response.destroy(error));
  });
  #granted = 0;

  static async open(): Promise<TokenEndpoint> {
    const endpoint = new TokenEndpoint();
    endpoint.#server.listen(0, '127.0.0.1');
    await once(endpoint.#server, 'listening');
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/token`; // it listens on a port
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = new URLSearchParams(await text(request)).get('refresh_token') ?? '';
    this.sent.push(token);
    const { status, body } = this.answer ?? this.#grant(token);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  #grant(token: string): Answer {
    if (token !== `refresh-${this.#granted}`) return { status: 400, body: { error: 'invalid_grant' } };
    this.#granted += 1;
    const [access_token, refresh_token] = [`access-${this.#granted}`, `refresh-${this.#granted}`];
    return { status: 200, body: { access_token, refresh_token, expires_in: this.expiresInSeconds } };
  }
}
