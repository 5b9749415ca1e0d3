import type { Caller, Interceptor, ModelReply } from './state.js';
import type { WireFormat } from './operation.js';
import type { MessagesRequest } from './messages.js';
import type { CatalogModel, Models } from './models.js';
import type { Logger } from './logger.js';
import type { ResponseQuota, Store } from './store.js';

/** Context of a format: everything that it may need besides the body. */
export interface FormatContext {
  readonly caller: Caller;
  /** The catalog entry of a model id or alias. */
  findModel(id: string): CatalogModel | undefined;
  readonly models: Models;
  readonly store: Store;
  readonly log: Logger;
  /** Pseudonym for a text that the upstream must not see; the same each time. */
  readonly pseudonym: (text: string) => Promise<string>;
  readonly now: () => number;
  /** Max body size of the pipeline, in bytes; content that a body refers to counts as part of it. */
  readonly maxBodyBytes: number;
  /** Quota of stored responses of a key. */
  readonly quota: Required<ResponseQuota>;
  /** Adds a field of the body to `x-gw-dropped`; too late once the response has begun. */
  readonly drop: (path: string) => void;
}

/** A caller's request in canonical form. */
export interface Decoded {
  readonly request: MessagesRequest;
  /** True if the caller asked for `stream: true`. */
  readonly stream: boolean;
  /** Fields that Messages cannot express, as the caller wrote their paths: `logprobs`, `tools[2]`. */
  readonly dropped: readonly string[];
  /** Interceptors for the fan-out of `n` and of several prompts. */
  readonly interceptors: readonly Interceptor[];
}

/** Turns one reply into the caller's dialect. */
export interface ReplyEncoder {
  /** The JSON body: a fold over the events. Throws what the events throw. */
  whole(reply: ModelReply): Promise<unknown>;
  /**
   * Server-sent events as text or in UTF-8, whole events only, one piece for what arrived together. After a
   * failure it yields the dialect's error event, no success marker, and then throws the error.
   */
  stream(reply: ModelReply): AsyncIterable<string | Uint8Array>;
  /** Heartbeat, sent after a silence (by default 15 s). */
  readonly keepAlive: string;
}

/** One wire format, both ways. */
export interface Format {
  readonly name: WireFormat;
  /** Throws `invalid_request` naming the field (`messages[2].content: …`). */
  decode(body: unknown, context: FormatContext): Decoded | Promise<Decoded>;
  /** `body`: one that `decode` has accepted. */
  encoder(body: unknown, context: FormatContext): ReplyEncoder | Promise<ReplyEncoder>;
  /**
   * The answer to a token count; absent: `{"input_tokens"}`, or an OAuth account's usage windows (contract
   * §2.2).
   */
  readonly count?: (inputTokens: number) => object;
}
