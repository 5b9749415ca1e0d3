import type { Caller, GatewayState, Interceptor, ModelReply, WireFormat } from './state.js';
import type { MessagesRequest } from './messages.js';
import type { CatalogModel, Host, Logger, Models } from './host.js';
import type { ResponseQuota, Store } from './store.js';

/** What a format may need besides the body. */
export interface FormatContext {
  readonly caller: Caller;
  /** The catalog entry of a model id or alias. */
  findModel(id: string): CatalogModel | undefined;
  readonly models: Models;
  readonly store: Store;
  readonly log: Logger;
  /** An opaque name for what the upstream must not be told, the same each time. */
  readonly pseudonym: (text: string) => Promise<string>;
  readonly now: () => number;
  /** The largest body that the pipeline takes; what a body names elsewhere counts as if it stood there. */
  readonly maxBodyBytes: number;
  /** The most that a key may keep of answers in the store. */
  readonly quota: Required<ResponseQuota>;
  /** Adds a field of the body to those that `x-gw-dropped` names; too late once the answer has begun. */
  readonly drop: (path: string) => void;
}

/** The context that a stage hands to a format. `encoding`: the part that only the stage that answers knows. */
export function formatContext(
  host: Host,
  state: Pick<GatewayState, 'caller' | 'log'>,
  encoding: Encoding = defaultEncoding,
): FormatContext {
  return new StageContext(host, state, encoding);
}

type Encoding = Pick<FormatContext, 'quota' | 'drop'>;

const mb = 1024 * 1024;

const defaultEncoding: Encoding = {
  quota: { bytes: 256 * mb, count: 10_000, eachBytes: 32 * mb },
  drop: () => undefined,
};

/** The contract's limit (§8), for a pipeline whose stages announce none. */
const defaultMaxBodyBytes = 128 * mb;

/**
 * The request's logger is made for the first who asks for it, which few formats do. A class: an object literal with a
 * getter has a shape of its own each time, at which 100 µs a request are lost in all that looks at shapes.
 */
class StageContext implements FormatContext {
  readonly caller: Caller;
  readonly store: Store;
  readonly models: Models;
  readonly quota: Required<ResponseQuota>;
  readonly #host: Host;
  readonly #state: Pick<GatewayState, 'log'>;
  readonly #encoding: Encoding;

  constructor(host: Host, state: Pick<GatewayState, 'caller' | 'log'>, encoding: Encoding) {
    this.caller = state.caller;
    this.store = host.store;
    this.models = host.models;
    this.quota = encoding.quota;
    this.#host = host;
    this.#state = state;
    this.#encoding = encoding;
  }

  get maxBodyBytes(): number {
    return this.#host.limits().max_body_bytes ?? defaultMaxBodyBytes;
  }

  get log(): Logger {
    return this.#state.log;
  }

  readonly findModel = (id: string): CatalogModel | undefined => this.#host.models.find(id);

  readonly pseudonym = (text: string): Promise<string> => this.#host.pseudonym(text);

  readonly now = (): number => this.#host.now();

  readonly drop = (path: string): void => this.#encoding.drop(path);
}

/** A caller's request in canonical form. */
export interface Decoded {
  readonly request: MessagesRequest;
  /** Whether the caller asked for `stream: true`. */
  readonly stream: boolean;
  /** Fields that Messages cannot express, as the caller wrote their paths: `logprobs`, `tools[2]`. */
  readonly dropped: readonly string[];
  /** Fan-out of `n` and of several prompts. */
  readonly interceptors: readonly Interceptor[];
}

/** Turns one reply into the caller's dialect. */
export interface ReplyEncoder {
  /** The JSON body: a fold over the events. Throws what the events throw. */
  whole(reply: ModelReply): Promise<unknown>;
  /**
   * Server-sent events as text or in UTF-8, whole events only, one piece for what arrived together. After a failure it
   * yields the dialect's error event, no success marker, and then throws the error.
   */
  stream(reply: ModelReply): AsyncIterable<string | Uint8Array>;
  /** Sent after 15 s of silence. */
  readonly keepAlive: string;
}

/** One wire format, both ways. */
export interface Format {
  readonly name: WireFormat;
  /** Throws `invalid_request` naming the field (`messages[2].content: …`). */
  decode(body: unknown, context: FormatContext): Decoded | Promise<Decoded>;
  /** `body` is one that `decode` has accepted. */
  encoder(body: unknown, context: FormatContext): ReplyEncoder | Promise<ReplyEncoder>;
  /** The answer to a token count; absent: `{"input_tokens"}`, or an OAuth account's usage windows (contract §2.2). */
  readonly count?: (inputTokens: number) => object;
}
