import type { IncomingHttpHeaders } from 'node:http';
import type { Static, TSchema } from 'typebox';
import type { Connection } from '../format/connection.js';
import type { GatewayError } from './error.js';
import { closeObjects } from '../../kit/schema/type.js';
import { defined, type DefinitionForm, type ApiLevel } from './definition.js';
import type { Caller } from './caller.js';
import type { Intercept, ModelReply, StageContext } from './state.js';
import type { Loss } from './loss.js';
import type { MessagesRequest } from './messages.js';
import type { CatalogModel, Models } from './models.js';
import type { Logger } from './telemetry.js';
import type { RoutePath } from './route.js';
import type { ResponseQuota, PluginStore } from './store.js';

/** Context of a format: everything that it may need besides the body. */
export interface FormatContext<Options = Readonly<Record<string, unknown>>> {
  /** The format's own options, defaults filled in. */
  readonly options: Options;
  /** Path of the request, without its query. */
  readonly path: string;
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  /** The catalog entry of a model id or alias. */
  findModel(id: string): CatalogModel | undefined;
  readonly models: Models;
  readonly store: PluginStore;
  readonly log: Logger;
  /** Pseudonym for a text that the upstream must not see; the same each time. */
  readonly pseudonym: (text: string) => Promise<string>;
  readonly now: () => number;
  /** Max body size of the pipeline, in bytes; content that a body refers to counts as part of it. */
  readonly maxBodyBytes: number;
  /** Quota of stored responses of a key. */
  readonly quota: Required<ResponseQuota>;
  /** WebSocket connection that the request came on as a message; undefined for a request by HTTP. */
  readonly connection?: Connection | undefined;
  /** Adds a field of the body to `x-gw-dropped`; too late once the response has begun. */
  readonly drop: (path: string) => void;
}

/** A caller's request in canonical form. */
export interface Decoded {
  readonly request: MessagesRequest;
  /** True if the caller asked for a stream. */
  readonly stream: boolean;
  /** Fields that Messages cannot express, as the caller wrote their paths: `logprobs`, `tools[2]`. */
  readonly dropped: readonly (string | Loss)[];
  /**
   * Caller's path of a part of `request`: `stop` for `stop_sequences`; absent if the paths are the same. Called only
   * for reports; undefined for a part that the caller did not send.
   */
  readonly pathOf?: ((path: string) => string | undefined) | undefined;
  /** Wraps the call of this request: the fan-out of `n` and of several prompts. */
  readonly intercept?: Intercept | undefined;
  /** Number of calls that `intercept` makes at once; absent: 1. */
  readonly answers?: number | undefined;
}

/** Turns one reply into the caller's dialect. */
export interface ReplyEncoder {
  /** Content type of the stream; default server-sent events. */
  readonly contentType?: string;
  /** The JSON body: a fold over the events. Throws the errors of the events. */
  whole(reply: ModelReply): Promise<unknown>;
  /**
   * The stream as text or in UTF-8, whole events only, one piece per batch. After a failure it yields the dialect's
   * error event, no success marker, and then throws the error.
   */
  stream(reply: ModelReply): AsyncIterable<string | Uint8Array>;
  /** Heartbeat, sent after a silence (by default 15 s); absent: none. */
  readonly keepAlive?: string;
  /**
   * Event instead of the heartbeat after 120 s without one, for clients whose timers a comment does not reset;
   * empty if there is none yet. Called between two pieces of `stream`.
   */
  readonly longSilence?: () => string | Uint8Array;
}

/** A path of a format. */
export interface FormatRoute extends RoutePath {
  /** `route`: behind `auth` alone, answered by `handle`; the others pass the stages. */
  readonly operation: 'generate' | 'count-tokens' | 'route';
  /**
   * True: also served over WebSocket, for `POST` and `generate`. Each text message is the body of a request of
   * its own, with the headers of the handshake; each event of the answer is a message with its data, an error
   * is `{"type":"error","status","error"}`.
   */
  readonly websocket?: boolean;
  handle?(ctx: StageContext<'caller', never>, context: FormatContext): void | Promise<void>;
}

export interface FormatDefinition<Options extends TSchema = TSchema> {
  /** Name in the config, in `when.format` and in the ledger. */
  readonly name: string;
  /** JSON Schema of `with:`; defaults are filled in, unknown options are refused. */
  readonly options?: Options;
  /** Level of the plugin API that it was written for; another one than the gateway's is refused. */
  readonly api?: ApiLevel;
  readonly routes: readonly FormatRoute[];
  /** JSON Schema of the request body. */
  readonly body: object;
  /**
   * Header in which its callers also send their key, such as `x-goog-api-key`. On its paths it becomes
   * `x-api-key`, unless that or `Authorization: Bearer` holds a key, so that no stage sees it under its own name.
   */
  readonly keyHeader?: string;
  /** Further answer header with the request's id, such as `request-id`; an upstream's own id wins. */
  readonly requestIdHeader?: string;
  /** True for a format whose body is a Messages request, which is sent upstream unchanged. */
  readonly keepsBytes?: boolean;
  /** Throws `invalid_request` naming the field (`messages[2].content: …`). */
  decode(body: unknown, context: FormatContext<OptionsOf<Options>>): Decoded | Promise<Decoded>;
  /** `body`: one that `decode` has accepted. */
  encoder(body: unknown, context: FormatContext<OptionsOf<Options>>): ReplyEncoder | Promise<ReplyEncoder>;
  /** JSON body of a token count; default `{"input_tokens"}`, or an OAuth account's usage windows. */
  count?(inputTokens: number): object;
  /** JSON body of an error on a path of this format; default that of `GatewayError`. */
  error?(error: GatewayError, request: FailedRequest): object;
}

/** Request that an error answers. */
export interface FailedRequest {
  /** The caller's `X-Request-ID`, or the gateway's own id. */
  readonly requestId: string;
}

/** Options as their schema types them; without a schema there are none. */
type OptionsOf<Schema extends TSchema> =
  unknown extends Static<Schema> ? Readonly<Record<string, unknown>> : Static<Schema>;

/** Wire format with its options, both ways. */
export interface Format extends Omit<FormatDefinition, 'options' | 'keepsBytes'> {
  /** JSON Schema of `settings`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Options of the config, defaults filled in. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly keepsBytes: boolean;
}

/** Defines a wire format. Every object schema in `options` is closed unless it says otherwise. */
export function defineFormat<const Options extends TSchema = TSchema>(
  definition: FormatDefinition<Options>,
): Format {
  return defined(formatForm, definition);
}

/** Form of the definition of a format; `settings` are of one that is defined already. */
export const formatForm: DefinitionForm<FormatDefinition, Format> = {
  kind: 'format',
  fields: {
    name: true,
    options: true,
    api: true,
    routes: true,
    body: true,
    keyHeader: true,
    requestIdHeader: true,
    keepsBytes: true,
    decode: true,
    encoder: true,
    count: true,
    error: true,
    settings: true,
  } as const satisfies Record<keyof FormatDefinition | 'settings', true>,
  normalize(definition) {
    const options = closeObjects(definition.options ?? { type: 'object', properties: {} });
    // The loader checks the settings by this very schema before it hands them over.
    return {
      settings: {},
      keepsBytes: false,
      ...definition,
      options: options as Format['options'],
    };
  },
};
