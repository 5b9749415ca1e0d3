import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { ProviderCall } from './provider-call.js';

/** Behaviour of a model: what the provider does with the connection of each call. */
export type Fault = (call: ProviderCall) => void | Promise<void>;

/** A call as the provider has received it. */
export interface Asked {
  readonly atMs: number;
  readonly model: string;
}

/** A Chat Completions provider on a raw socket, whose faults are those of `faults`, by the model's name. */
export class FaultyProvider {
  readonly asked: Asked[] = [];
  readonly #faults: ReadonlyMap<string, Fault>;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();

  /** Share of the real times that the suite takes. */
  readonly #scale: number;

  private constructor(faults: ReadonlyMap<string, Fault>, scale: number) {
    this.#faults = faults;
    this.#scale = scale;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(faults: ReadonlyMap<string, Fault>, scale: number): Promise<FaultyProvider> {
    const provider = new FaultyProvider(faults, scale);
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo; // it listens on a port
    return `http://127.0.0.1:${port}`;
  }

  /** Calls for a model, in the order of their arrival. */
  callsFor(model: string): readonly Asked[] {
    return this.asked.filter((call) => call.model === model);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy()); // the gateway may leave at any time
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      received += text;
      const body = bodyIn(received);
      if (body === undefined) return;
      received = '';
      void this.#serve(socket, JSON.parse(body) as { readonly model: string });
    });
  }

  async #serve(socket: Socket, body: { readonly model: string }): Promise<void> {
    const { model } = body;
    this.asked.push({ atMs: performance.now(), model });
    const calls = this.callsFor(model);
    const call = new ProviderCall(socket, body, {
      nth: calls.length,
      sinceFirstMs: (performance.now() - (calls[0]?.atMs ?? 0)) / this.#scale,
      signal: this.#closing.signal,
    });
    const fault = this.#faults.get(model);
    if (fault) await fault(call);
    else call.refuse(404, 'model_not_found', `There is no model ${model}.`);
  }
}

/** The body of a request that has come whole; `{}` for one without. */
function bodyIn(received: string): string | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const length = Number(/^content-length: *(\d+)/im.exec(received.slice(0, end))?.[1] ?? 0);
  const body = received.slice(end + 4);
  if (body.length < length) return undefined;
  return length === 0 ? '{}' : Buffer.from(body, 'latin1').toString();
}
