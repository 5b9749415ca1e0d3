import type { Duplex } from 'node:stream';
import type { Config } from '../config/config.js';
import type { CallerLimits } from '../engine/http/watch/caller-watch.js';
import type { Exchanges } from '../engine/http/exchanges.js';
import { Listener, type Handle } from '../engine/http/connection/listener.js';
import type { RequestWatches } from './request-watches.js';
import type { Services } from './services.js';

interface ListenersParts {
  readonly services: Services;
  readonly exchanges: Exchanges;
  readonly watches: RequestWatches;
  /** Settings of the config in force. */
  readonly listen: () => Config['listen'];
  readonly makeHandler: () => Handle;
}

/** Servers of a gateway: the one of its address, and the one of connections from within the process. */
export class Listeners {
  readonly #parts: ListenersParts;
  /** Server of the address, or of a gateway without one; undefined before it is opened. */
  outer: Listener | undefined;
  #inner: Listener | undefined;
  #callerLimits: CallerLimits | undefined;

  constructor(parts: ListenersParts) {
    this.#parts = parts;
  }

  /** Listens on the configured address and returns the base URL. Rejects if the address is not available. */
  async open(): Promise<string> {
    const { services, exchanges, watches, makeHandler } = this.#parts;
    const listen = this.#parts.listen();
    const onRefused = refusedConnections(services, listen.maxConnections);
    const { listening } = watches;
    this.outer = await Listener.open(makeHandler(), { ...listen, onRefused, listening });
    exchanges.watch({ ...listen, ...this.callerLimits });
    return this.outer.url;
  }

  /** Serves without a port; returns a function that takes the server's side of a connection. */
  openWithin(): (socket: Duplex) => void {
    const { services, exchanges, makeHandler } = this.#parts;
    const listen = this.#parts.listen();
    const onRefused = refusedConnections(services, listen.maxConnections);
    const listener = Listener.within(makeHandler(), { ...listen, onRefused });
    this.outer = listener;
    exchanges.watch({ ...listen, callerIdleTimeoutMs: 0, onIdleCaller: () => undefined });
    return (socket) => listener.accept(socket);
  }

  /** Serves a connection from within the process, beside those of the port. */
  accept(socket: Duplex): void {
    const options = { ...this.#parts.listen(), maxConnections: Infinity, onRefused: () => undefined };
    this.#inner ??= Listener.within(this.#parts.makeHandler(), options);
    this.#inner.accept(socket);
  }

  /** Limits of callers who do not read their answers, by the config at the first use. */
  get callerLimits(): CallerLimits {
    const { callerIdleTimeoutMs } = this.#parts.listen();
    this.#callerLimits ??= { callerIdleTimeoutMs, onIdleCaller: idleCallers(this.#parts.services) };
    return this.#callerLimits;
  }

  /** Number of open WebSockets. */
  get openWebSockets(): number {
    return this.outer?.upgraded ?? 0;
  }

  get openConnections(): number {
    return this.outer?.drain.connections ?? 0;
  }
}

/** Counts connections above the max, and logs them at most once a minute. */
function refusedConnections(services: Services, maxConnections: number): () => void {
  const metric = {
    name: 'gw2api_connections_refused_total',
    help: 'Connections closed at once because listen.maxConnections were open.',
  };
  const message = 'Too many connections are open; further ones are closed at once.';
  return countingLogger(services, metric, { fields: { maxConnections }, message });
}

/** Counts answers that were ended because their callers did not read them, and logs them at most once a minute. */
function idleCallers(services: Services): () => void {
  const metric = {
    name: 'gw2api_callers_idle_total',
    help: 'Answers ended because their callers did not read them for listen.callerIdleTimeout.',
  };
  const message =
    'Callers did not read their answers for listen.callerIdleTimeout; their connections are closed.';
  return countingLogger(services, metric, { fields: {}, message });
}

function countingLogger(
  { metrics, log, now }: Services,
  { name, help }: { readonly name: string; readonly help: string },
  { fields, message }: { readonly fields: object; readonly message: string },
): () => void {
  const counter = metrics.counter(name, help, []);
  let loggedMs = -Infinity;
  return () => {
    counter.add({});
    if (now() - loggedMs < 60_000) return;
    loggedMs = now();
    log.warn(fields, message);
  };
}
