import { buildConnector, Client, EnvHttpProxyAgent, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { hasEnvironmentProxy, tlsOptions } from '../../plugin/core.js';
import type { TlsSettings } from '../../plugin/index.js';
import type { AddressGuard } from './address-guard.js';
import { ContinueFilter } from './continue-filter.js';

interface EgressSettings {
  readonly origin: string;
  /** `http://user:pass@host:port` */
  readonly proxy?: string;
  /** TLS of the connections to the origin. */
  readonly tls?: TlsSettings;
  readonly connectTimeoutMs: number;
  /** Address check before each connection. */
  readonly guard?: AddressGuard | undefined;
  /** True: without a proxy of its own, that of the environment (HTTPS_PROXY, NO_PROXY) is used. */
  readonly usesEnvironment?: boolean;
  /** Max time for which an unused connection is kept; default 30 s. */
  readonly idleMs?: number;
  /** Max connections at a time; default: no limit. */
  readonly connections?: number;
  /** Makes the connections instead of TCP, TLS and the proxy; they leave this process only if it permits that. */
  readonly connector?: Connector | undefined;
}

/** Makes a connection to an origin. */
export type Connector = buildConnector.connector;

/** A slot's own connections to its upstream. */
export interface Egress {
  readonly origin: string;
  dispatch(options: TracedOptions, handler: Dispatcher.DispatchHandler): void;
  /** Drains: takes no more calls and resolves when the running ones have ended. */
  close(): Promise<void>;
}

/** Connection of a call. */
export interface Connection {
  /** Marks the connection as used; returns true if it had been used before. */
  use(): boolean;
}

interface TracedOptions extends Dispatcher.DispatchOptions {
  /**
   * Receives the connection that the call waits for. undici ignores this option and passes it on unchanged.
   */
  readonly onConnection: (connection: Connection) => void;
}

/**
 * Opens an egress, which connects on first use and carries one call per connection at a time. No limit of its
 * own: the slot's permits limit the calls, and a second queue here would be invisible.
 */
export function openEgress(settings: EgressSettings): Egress {
  const { origin, proxy, connector } = settings;
  const dispatcher = !connector && proxy ? throughProxy(proxy, settings) : withoutProxy(settings);
  return {
    origin,
    dispatch: (options, handler) => void dispatcher.dispatch(options, handler),
    close: () => dispatcher.close(),
  };
}

/**
 * Time for which an unused connection is kept, ignoring the server's hints: behind a NAT or a balancer it may be dead
 * by then. TCP probes of active ones begin after 10 s of silence, and end a call whose peer is gone.
 */
function idleLimits({
  idleMs = 30_000,
  connections,
}: Pick<EgressSettings, 'idleMs' | 'connections'>): Pool.Options {
  return { keepAliveTimeout: idleMs, keepAliveMaxTimeout: idleMs, ...(connections && { connections }) };
}

const probes = { keepAlive: true, keepAliveInitialDelay: 10_000 };

function directEgress(settings: EgressSettings): Dispatcher {
  const { origin, tls, connectTimeoutMs: timeout, guard, connector } = settings;
  const options = { timeout, ...probes, ...tlsOptions(tls) };
  const connect = connector ?? guard?.connector(options) ?? buildConnector(options);
  return new Pool(origin, {
    ...idleLimits(settings),
    connect: named(connect, tls?.servername),
    factory: tracedClient,
  });
}

/** Connector that asks for another name than the host's. */
function named(connect: Connector, servername: string | undefined): Connector {
  return servername === undefined
    ? connect
    : (options, callback) => connect({ ...options, servername }, callback);
}

/** Egress of a slot without a proxy of its own. */
function withoutProxy(settings: EgressSettings): Dispatcher {
  const usesEnvironment = settings.usesEnvironment === true && !settings.connector && hasEnvironmentProxy();
  return usesEnvironment ? byEnvironment(settings) : directEgress(settings);
}

/** Egress through the proxy that the environment names, unless NO_PROXY has the host. */
function byEnvironment(settings: EgressSettings): Dispatcher {
  const { origin: upstream, tls, connectTimeoutMs: timeout, guard } = settings;
  guard?.check(new URL(upstream).hostname);
  const options = { timeout, ...probes, ...tlsOptions(tls) };
  return new EnvHttpProxyAgent({
    ...idleLimits(settings),
    connect: guard?.connector(options) ?? options,
    proxyTls: { timeout, ...probes },
    requestTls: options,
    factory: (origin, given: Pool.Options) =>
      new Pool(origin, { ...given, factory: tracedClient, ...finalErrors(given) }),
  });
}

/**
 * Egress through a proxy. The proxy resolves host names, so that only literal addresses can be refused here.
 */
function throughProxy(proxy: string, settings: EgressSettings): Dispatcher {
  const { origin: upstream, tls, connectTimeoutMs: timeout, guard } = settings;
  guard?.check(new URL(upstream).hostname);
  const connect = guard?.connector({ timeout, ...probes });
  const { servername } = tls ?? {};
  return new ProxyAgent({
    uri: withoutUser(proxy),
    ...proxyToken(proxy),
    ...idleLimits(settings),
    proxyTls: { timeout, ...probes },
    requestTls: { timeout, ...tlsOptions(tls), ...(servername !== undefined && { servername }) },
    clientFactory: (origin, options) =>
      new Pool(origin, { ...options, ...(connect && { connect }), headersTimeout: timeout }),
    factory: (origin, options: Pool.Options) =>
      new Pool(origin, { ...options, factory: tracedClient, ...finalErrors(options) }),
  });
}

function withoutUser(proxy: string): string {
  const url = new URL(proxy);
  url.username = '';
  url.password = '';
  return url.href;
}

/** undici itself ignores a user without a password. */
function proxyToken(proxy: string): { token?: string } {
  const { username, password } = new URL(proxy);
  if (!username) return {};
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { token: `Basic ${Buffer.from(user).toString('base64')}` };
}

function tracedClient(origin: URL, options: object): Dispatcher {
  return new TracedClient(origin, options);
}

/** Client with one connection at a time, which reports to each call whether the connection is reused. */
class TracedClient extends Client implements Connection {
  readonly #continues: ContinueFilter;
  #used = false;

  constructor(origin: URL, options: Client.Options) {
    const continues = new ContinueFilter();
    super(origin, { ...options, ...filtered(options, continues) });
    this.#continues = continues;
    this.on('connect', () => {
      this.#used = false;
    });
  }

  override dispatch(
    options: Dispatcher.DispatchOptions & Partial<TracedOptions>,
    handler: Dispatcher.DispatchHandler,
  ) {
    options.onConnection?.(this);
    return super.dispatch(options, handler);
  }

  use(): boolean {
    const used = this.#used;
    this.#used = true;
    this.#continues.arm();
    return used;
  }
}

/** Connector whose sockets are filtered; a pool gives each client one. */
function filtered({ connect }: Client.Options, continues: ContinueFilter): Pick<Client.Options, 'connect'> {
  if (typeof connect !== 'function') return {};
  const connectFiltered: buildConnector.connector = (options, callback) => {
    connect(options, (error, socket) => {
      if (error) callback(error, null);
      else callback(null, continues.attach(socket));
    });
  };
  return { connect: connectFiltered };
}

/**
 * Makes a connection error of a proxy final. If a proxy closes a CONNECT, undici takes the socket code of the
 * error for a transient error and reconnects without end; without its code the error ends the call.
 */
function finalErrors({ connect }: Pool.Options): Pick<Pool.Options, 'connect'> {
  if (typeof connect !== 'function') return {};
  const connectOnce: buildConnector.connector = (options, callback) => {
    connect(options, (error, socket) => {
      if (error) callback(proxyError(error), null);
      else callback(null, socket);
    });
  };
  return { connect: connectOnce };
}

/** Error of a connection through a proxy: instead of a code of the socket, the proxy's answer to CONNECT. */
function proxyError(error: Error): Error {
  const [, status] = /^Proxy response \((\d{3})\)/.exec(error.message) ?? [];
  if (status === undefined) return new ProxyError(error.message, error);
  const answered = `the proxy answered ${status}`;
  const why = status === '407' ? ': it requires a user and a password, or rejects those of the slot' : '';
  return Object.assign(new ProxyError(`${answered}${why}`, error), { code: answered });
}

class ProxyError extends Error {
  constructor(message: string, cause: Error) {
    super(message, { cause });
    this.name = 'ProxyError';
  }
}
