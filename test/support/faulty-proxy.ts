import { once } from 'node:events';
import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** Fault of a reply behind a proxy: late, none, other bytes, or the first half and a broken connection. */
export const proxyFaults = ['slow', 'dead', 'garbage', 'half'] as const;
export type ProxyFault = (typeof proxyFaults)[number];

export interface ProxySettings {
  readonly target: URL;
  /** Fault of a question by its `webhook-id`; undefined: none. */
  faultOf(id: string): ProxyFault | undefined;
  /** Delay of a slow reply. */
  readonly slowMs: number;
}

/** HTTP proxy in front of a server of remote stages, with faults. */
export class FaultyProxy {
  readonly url: URL;
  readonly #server: Server;
  readonly #agent = new Agent({ keepAlive: true });

  static async open(settings: ProxySettings): Promise<FaultyProxy> {
    const proxy: FaultyProxy[] = [];
    const server = createServer((asked, response) => proxy[0]?.pass(asked, response, settings));
    server.keepAliveTimeout = 60_000;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const opened = new FaultyProxy(server, settings.target);
    proxy.push(opened);
    return opened;
  }

  private constructor(server: Server, { pathname }: URL) {
    this.#server = server;
    const { port } = server.address() as AddressInfo; // it listens on TCP
    this.url = new URL(`http://127.0.0.1:${port}${pathname}`);
  }

  /** Passes a question on, and its reply or a fault back. */
  pass(asked: IncomingMessage, response: ServerResponse, settings: ProxySettings): void {
    const { target, slowMs } = settings;
    const fault = settings.faultOf(String(asked.headers['webhook-id']));
    const fail = (): void => void response.destroy();
    const sent = request(target, { method: asked.method, headers: asked.headers, agent: this.#agent });
    sent.on('error', fail).on('response', (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', fail);
      reply.on('end', () => {
        const body = Buffer.concat(chunks);
        const answer = (): void =>
          void response.writeHead(reply.statusCode ?? 502, { 'content-length': body.length }).end(body);
        if (fault) spoil[fault](response, { body, answer, slowMs });
        else answer();
      });
    });
    asked.on('error', fail).pipe(sent);
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    this.#agent.destroy();
    await once(this.#server, 'close');
  }
}

interface Spoiled {
  readonly body: Buffer;
  readonly slowMs: number;
  answer(): void;
}

const spoil: Readonly<Record<ProxyFault, (response: ServerResponse, reply: Spoiled) => void>> = {
  slow: (_, reply) => void setTimeout(() => reply.answer(), reply.slowMs),
  dead: (response) => void response.destroy(),
  garbage: (response) => void response.writeHead(200).end('\u0000{"version":1,"verdict":'),
  half(response, { body }) {
    response.writeHead(200, { 'content-length': body.length });
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  },
};
