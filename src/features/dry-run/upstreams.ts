import { lazy } from '../../kit/once.js';
import { AsyncLocalStorage } from 'node:async_hooks';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../../plugin/index.js';
import { programUrl } from '../../kit/package-files.js';
import { openHttpClient, type OpenHttpClient, type SentRequest } from '../../engine/transport/http-client.js';
import { MemorySocket } from '../../engine/http/connection/memory-socket.js';
import type { WithinCall } from '../../engine/pipeline/call/open-calls.js';
import type { OutgoingCall } from './outcome.js';
import type { DryRemotes } from './remotes.js';
import { labelHeader, standInServer } from './stand-in.js';

/** Parts of the built-in simulator that this folder uses, since no folder may import it. */
interface SimulatorParts {
  readonly Simulator: new (
    server: Server,
    options: { clock: Clock; keep: number },
  ) => { readonly faults: string[] };
  readonly scenarioNames: readonly string[];
}

type Settings = Parameters<OpenHttpClient>[0];

interface DryUpstream {
  readonly server: Server;
  /** Scenarios that hold for each request. */
  readonly scenarios: string[];
}

/** Simulators in place of the upstreams of all slots, and a token endpoint in place of those of accounts. */
export class DryUpstreams {
  readonly #simulator: SimulatorParts;
  readonly #clock: Clock;
  readonly #bySlot = new Map<string, DryUpstream>();
  readonly #tokens = createServer((request, response) => void grantToken(request, response));
  readonly #sockets = new Set<MemorySocket>();
  readonly #label = new AsyncLocalStorage<string>();
  /** Services of remote stages; undefined: stages reach nothing. */
  remotes: DryRemotes | undefined;

  /** Upstream requests since it was emptied. */
  readonly outgoing: OutgoingCall[] = [];

  private constructor(simulator: SimulatorParts, clock: Clock) {
    this.#simulator = simulator;
    this.#clock = clock;
  }

  static async load(clock: Clock): Promise<DryUpstreams> {
    const server = programUrl('plugins/upstreams/simulator/server.js');
    const scenarios = programUrl('plugins/upstreams/simulator/scenarios/scenarios.js');
    const modules = await Promise.all([import(server.href), import(scenarios.href)]);
    const [{ Simulator }, { scenarioNames }] = modules as [SimulatorParts, SimulatorParts]; // built-ins
    return new DryUpstreams({ Simulator, scenarioNames }, clock);
  }

  /** Names of the known scenarios. */
  get scenarioNames(): readonly string[] {
    return this.#simulator.scenarioNames;
  }

  /**
   * Opens clients that reach the simulator of their slot, the token endpoint, or the service of their remote stage;
   * those of other stages reach nothing.
   */
  readonly openClient: OpenHttpClient = (settings, use) => {
    if (use === 'stage') {
      const accept = this.remotes?.acceptor(settings.id);
      return openHttpClient(accept ? this.#within(settings, accept) : settings); // others are refused by the guard
    }
    const connect = use === 'account' ? connectTo(() => this.#tokens) : this.#connect(settings);
    const slot = use === 'upstream' ? settings.id : undefined;
    return openHttpClient({
      ...this.#within(settings, connect),
      onSend: (request) => this.#keep(request, slot),
    });
  };

  /** Runs the calls of a stage, whose requests have its label. */
  readonly withinCall: WithinCall = (label, work) => this.#label.run(label, work);

  /** Keeps a request; returns the header by which the simulator knows its label. */
  #keep(request: SentRequest, slot: string | undefined): Readonly<Record<string, string>> {
    const label = slot === undefined ? undefined : this.#label.getStore();
    this.outgoing.push(outgoingCall(request, slot, label));
    return label === undefined ? {} : { [labelHeader]: label };
  }

  /** Settings of a client whose connections stay within this process. */
  #within(settings: Settings, connect: (far: MemorySocket) => void): Settings {
    const sockets = this.#sockets;
    return {
      ...settings,
      connector(_, callback) {
        const [near, far] = MemorySocket.pair();
        sockets.add(near.once('close', () => sockets.delete(near)));
        connect(far);
        queueMicrotask(() => callback(null, near as never)); // undici asks for a TCP socket, and uses no more than these have
      },
    };
  }

  /** Sets the scenarios that a slot answers with. */
  answerWith(slot: string, scenarios: readonly string[]): void {
    this.#of(slot).scenarios.splice(0, Infinity, ...scenarios);
  }

  /** Ends open calls, such as an answer whose last pause has not elapsed. */
  close(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Connects to the simulator of a slot, which serves below the path of any base URL, or to its stand-in. */
  #connect({ id, baseUrl, standIn }: Settings): (far: MemorySocket) => void {
    if (standIn) {
      return connectTo(lazy(() => standInServer(standIn, this.#of(id).server)));
    }
    const basePath = new URL(baseUrl).pathname.replace(/(?:\/v1)?\/*$/, '');
    return (far) => {
      basePaths.set(far, basePath);
      this.#of(id).server.emit('connection', far);
    };
  }

  #of(slot: string): DryUpstream {
    const known = this.#bySlot.get(slot);
    if (known) return known;
    const server = createServer().on('request', withoutBasePath);
    const { faults: scenarios } = new this.#simulator.Simulator(server, { clock: this.#clock, keep: 0 });
    const made = { server, scenarios };
    this.#bySlot.set(slot, made);
    return made;
  }
}

function connectTo(server: () => Server): (far: MemorySocket) => void {
  return (far) => void server().emit('connection', far);
}

/** Paths of the base URLs of connections. */
const basePaths = new WeakMap<object, string>();

/** Called before the simulator, which is given the path below that of the base URL. */
function withoutBasePath(request: IncomingMessage): void {
  const basePath = basePaths.get(request.socket) ?? '';
  if (basePath !== '' && request.url?.startsWith(`${basePath}/`))
    request.url = request.url.slice(basePath.length);
}

function outgoingCall(
  { method, path, headers, body, credential }: SentRequest,
  slot: string | undefined,
  label: string | undefined,
): OutgoingCall {
  return {
    ...(slot !== undefined && { slot }),
    ...(label !== undefined && { label }),
    method,
    path,
    headers: { ...headers },
    credential: Object.keys(credential).map((name) => name.toLowerCase()),
    body: parsed(body),
  };
}

function parsed(body: Buffer | string | undefined): unknown {
  if (body === undefined) return undefined;
  const text = body.toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Answers any token request with a token of an hour. */
async function grantToken(request: IncomingMessage, response: ServerResponse): Promise<void> {
  for await (const _ of request); // read to its end, so that the connection can be used again
  const token = { access_token: 'dry-run', refresh_token: 'dry-run', token_type: 'Bearer', expires_in: 3600 };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(token));
}
