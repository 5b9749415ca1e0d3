import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock, type Clock } from '@gw2api/gateway/plugin';
import { checkHeaders, parseBody } from './rules/admission.js';
import { answerHeaders } from './answer/answer-headers.js';
import { PromptCache } from './answer/cache.js';
import { RecordedRequest } from './recorded-request.js';
import type { ModelTable } from './models.js';
import { operations, type SimulatorContext } from './operations.js';
import { idFrom } from './random.js';
import { badRequest, Refusal } from './refusal.js';
import { ScenarioSelector } from './scenarios/scenarios.js';
import { vertexCall } from './vertex-calls.js';

export interface SimulatorOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free one. */
  readonly port?: number;
  /** Time of cache lifetimes and usage windows, and timers of delays; default: those of the machine. */
  readonly clock?: Clock;
  /** Called for each request when its body has been read. */
  readonly onRequest?: (exchange: RecordedRequest) => void;
  /** Number of recent requests kept for tests to inspect; default 100. */
  readonly keep?: number;
  /** Capabilities of upstream models by id, if they differ from the default. */
  readonly models?: ModelTable;
  /** False: `count_tokens` is a 404, as with compatible services. */
  readonly countTokens?: boolean;
  /** False: `GET /v1/models` is a 404, as with compatible services. */
  readonly hasModelList?: boolean;
  /** Default 32 MiB, as the real service. */
  readonly maxBodyBytes?: number;
}

/** Starts a Messages upstream with made-up answers. Throws if it cannot listen. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const server = createServer({ keepAliveTimeout: 60_000 });
  const simulator = new Simulator(server, options);
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  return simulator;
}

/**
 * Running simulator. Equal requests get equal answers, except for cache counts and scenarios with `times`.
 */
export class Simulator {
  /** Scenarios for every request, as in a marker: `simulator.faults.push('429 retry-after=2 times=1')`. */
  readonly faults: string[] = [];
  readonly #server: Server;
  readonly #options: SimulatorOptions;
  readonly #clock: Clock;
  readonly #context: SimulatorContext;
  readonly #requests: RecordedRequest[] = [];
  readonly #waiting = new Set<(exchange: RecordedRequest) => void>();
  #count = 0;

  /** @internal */
  constructor(server: Server, options: SimulatorOptions) {
    this.#server = server;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#context = {
      cache: new PromptCache(this.#clock.now),
      selector: new ScenarioSelector(),
      faults: this.faults,
      models: options.models ?? {},
      maxBodyBytes: options.maxBodyBytes ?? 32 * 1024 * 1024,
      hasCountTokens: options.countTokens ?? true,
      hasModelList: options.hasModelList ?? true,
    };
    server.on('request', (request, response) => void this.#serve(request, response));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port; // it listens on TCP
  }

  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  get url(): string {
    const { address, family, port } = this.#server.address() as AddressInfo; // it listens on TCP
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** The last requests, oldest first. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  /** The next request that `matches`, as soon as its body has been read. */
  nextRequest(matches: (exchange: RecordedRequest) => boolean = () => true): Promise<RecordedRequest> {
    return new Promise((resolve) => {
      const see = (exchange: RecordedRequest): void => {
        if (!matches(exchange)) return;
        this.#waiting.delete(see);
        resolve(exchange);
      };
      this.#waiting.add(see);
    });
  }

  /** Empties the prompt cache. */
  forgetPrompts(): void {
    this.#context.cache.clear();
  }

  /** Stops listening and drops every connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#count += 1;
    const exchange = new RecordedRequest(request, response, idFrom('req', String(this.#count)), this.#clock);
    try {
      await this.#answer(exchange);
    } catch (error) {
      if (exchange.status === undefined) refuse(exchange, error);
      else exchange.cut();
    }
  }

  async #answer(exchange: RecordedRequest): Promise<void> {
    const call = vertexCall(exchange.path);
    const operation = findOperation(exchange.method, call?.path ?? exchange.path);
    await exchange.read(this.#context.maxBodyBytes);
    const { body, problem } = parseBody(exchange.text);
    exchange.body = body;
    this.#announce(exchange);
    if (exchange.path !== '/') checkHeaders(exchange, { isVersioned: !call });
    if (exchange.method === 'POST' && problem) throw badRequest(problem);
    if (call) exchange.body = call.body(body);
    await operation(exchange, this.#context);
  }

  #announce(exchange: RecordedRequest): void {
    this.#requests.push(exchange);
    if (this.#requests.length > (this.#options.keep ?? 100)) this.#requests.shift();
    for (const see of this.#waiting) see(exchange);
    this.#options.onRequest?.(exchange);
  }
}

function findOperation(method: string, path: string): (typeof operations)[string] {
  const parent = path.replace(/(?<![^/])[^/]+$/, ':id');
  const found = operations[`${method} ${path}`] ?? operations[`${method} ${parent}`];
  if (found) return found;
  const isKnown = Object.keys(operations).some((key) => key.endsWith(` ${path}`));
  throw isKnown ? new Refusal(405, 'Method Not Allowed') : new Refusal(404, 'Not found');
}

function refuse(exchange: RecordedRequest, error: unknown): void {
  if (exchange.ending) return;
  const refusal = error instanceof Refusal ? error : brokenRefusal(error);
  const headers = { ...answerHeaders(exchange.requestId, exchange.now(), []), ...refusal.headers };
  const body = JSON.stringify(refusal.body(exchange.requestId));
  exchange.answerWith(refusal.status, 'application/json', body, headers);
}

/** A fault of the simulator itself. */
function brokenRefusal(error: unknown): Refusal {
  return new Refusal(500, `The simulator failed: ${error instanceof Error ? error.stack : String(error)}`);
}
