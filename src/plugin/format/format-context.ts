import type { IncomingHttpHeaders } from 'node:http';
import { connectionOf, type Connection } from './connection.js';
import type { FormatContext } from '../contract/format.js';
import type { Host } from '../contract/host.js';
import type { Logger } from '../contract/telemetry.js';
import type { CatalogModel, Models } from '../contract/models.js';
import type { Caller } from '../contract/caller.js';
import type { Trace } from '../contract/trace.js';
import type { GatewayState } from '../contract/state.js';
import type { ResponseQuota, PluginStore } from '../contract/store.js';

/** The part of a Koa context that a format can see. */
interface FormatRequest {
  readonly state: Pick<GatewayState, 'caller' | 'log' | 'format'> & {
    readonly trace?: Pick<Trace, 'pipeline'>;
  };
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly querystring: string;
  readonly req?: { readonly socket: object };
  /** Set by the router. */
  readonly params?: Readonly<Record<string, string | undefined>>;
}

/**
 * Builds the context that a stage passes to a format. `encoding`: the part that only the answering stage
 * knows.
 */
export function formatContext(
  host: Pick<Host, 'store' | 'models' | 'formats' | 'limits' | 'pseudonym' | 'now'>,
  request: FormatRequest,
  encoding: Encoding = defaultEncoding,
): FormatContext {
  return new RequestFormatContext(host, request, encoding);
}

type Encoding = Pick<FormatContext, 'quota' | 'drop'>;

const mb = 1024 * 1024;

const defaultEncoding: Encoding = {
  quota: { bytes: 256 * mb, count: 10_000, eachBytes: 32 * mb },
  drop: () => undefined,
};

/** Default max body size, for a pipeline whose stages announce none. */
export const defaultMaxBodyBytes = 128 * mb;

const noParams = Object.freeze({});

/**
 * Format context whose rarer parts are lazy. A class, because object literals with getters get a new hidden
 * class each time, which slows all code that reads them.
 */
class RequestFormatContext implements FormatContext {
  readonly caller: Caller;
  readonly store: PluginStore;
  readonly models: Models;
  readonly quota: Required<ResponseQuota>;
  readonly #host: Parameters<typeof formatContext>[0];
  readonly #request: FormatRequest;
  readonly #encoding: Encoding;

  constructor(host: Parameters<typeof formatContext>[0], request: FormatRequest, encoding: Encoding) {
    this.caller = request.state.caller;
    this.store = host.store;
    this.models = host.models;
    this.quota = encoding.quota;
    this.#host = host;
    this.#request = request;
    this.#encoding = encoding;
  }

  get options(): Readonly<Record<string, unknown>> {
    return this.#host.formats.get(this.#request.state.format).settings;
  }

  get path(): string {
    return this.#request.path;
  }

  get params(): FormatContext['params'] {
    return this.#request.params ?? noParams;
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#request.querystring);
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.headers;
  }

  get connection(): Connection | undefined {
    return connectionOf(this.#request.req?.socket);
  }

  get maxBodyBytes(): number {
    return this.#host.limits(this.#request.state.trace?.pipeline).max_body_bytes ?? defaultMaxBodyBytes;
  }

  get log(): Logger {
    return this.#request.state.log;
  }

  readonly findModel = (id: string): CatalogModel | undefined => this.#host.models.find(id);

  readonly pseudonym = (text: string): Promise<string> => this.#host.pseudonym(text);

  readonly now = (): number => this.#host.now();

  readonly drop = (path: string): void => this.#encoding.drop(path);
}
