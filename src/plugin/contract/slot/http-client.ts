import type { EventStream } from '../../events/stream/event-stream.js';
import type { ModelEvent, ModelEventBatch } from '../../events/events.js';
import type { CallSignal } from '../../../kit/call-signal.js';
import type { TlsSettings } from './tls.js';
import type { DiagnosisStep, ProgressReceiver } from './slot.js';

/** Headers by name, lower case; several of one name joined by `, `. */
export type Headers = Readonly<Record<string, string>>;

/** HTTP request of an upstream or an account. */
export interface HttpRequest {
  /** Default `POST` with a body, `GET` without. */
  readonly method?: 'GET' | 'POST';
  /** Path and query on the origin of the client's base URL. */
  readonly path: string;
  /** Headers above the client's defaults; those of the slot's config and of its account win over them. */
  readonly headers?: Headers;
  readonly body?: Buffer | string;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Header for the API key of an account without its own setting; default `x-api-key`. */
  readonly keyHeader?: string;
}

/** Request about to be sent, as an account signs it. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly origin: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body?: Buffer | string | undefined;
  readonly signal: CallSignal;
  /** Header for an API key, unless the account has its own setting; default `x-api-key`. */
  readonly keyHeader?: string | undefined;
}

/** Headers that prove the account to its upstream. */
export type Credential = Headers;

/** Terms of one request; a call of the gateway satisfies them. */
export interface RequestTerms {
  readonly signal: CallSignal;
  /** Proof of the account; none: the request is sent without. */
  readonly authorize?: (request: OutgoingRequest) => Promise<Credential> | Credential;
  /** Time limit from the connection to the head of the answer; default 30 s. */
  readonly headersTimeoutMs?: number;
  /** Max silence within the answer; default 30 s. */
  readonly idleTimeoutMs?: number;
  /** Exempts the answer from the idle timeout while it returns false. */
  readonly hasContent?: (() => boolean) | undefined;
  /** Receiver of the request's progress. */
  readonly progress?: ProgressReceiver | undefined;
}

/**
 * Answer with its head; the body waits, and its upstream with it, until one of the methods takes it. Each
 * answer must be taken once.
 */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Media type without parameters, lower case; empty if there is none. */
  readonly mediaType: string;
  /**
   * True if the body is server-sent events: by its media type, or by its first bytes if that is missing, JSON, plain
   * text or octets.
   */
  isEventStream(): Promise<boolean>;
  /**
   * Server-sent events of the Messages API, in batches; they throw an `error` event and a missing end. `unframe`
   * decodes the bytes of each read to text, for a service with its own framing; its errors fail the events.
   */
  events(unframe?: (bytes: Buffer) => Buffer): EventStream;
  /** Server-sent events of another protocol, converted by `translator`, a batch for each read. */
  translated(translator: SseTranslator): EventStream;
  /**
   * Text of the body, up to `maxBytes` (default 32 MiB). Rejects if the body breaks off, unless `status` is an error,
   * for which a partial text is enough.
   */
  text(maxBytes?: number): Promise<string>;
  /**
   * Events that `decode` makes of the lines of the body, a batch for each read. Cancelling them ends the call, even
   * before `decode` has begun to read.
   */
  decode(decode: (lines: AsyncIterable<readonly string[]>) => AsyncIterable<ModelEventBatch>): EventStream;
  /** Lines of the body without their ends, in batches as they arrive. Throws if it breaks off. */
  lines(): AsyncIterable<readonly string[]>;
  /** Bytes of the body, decompressed, as they arrive. Throws if it breaks off. */
  bytes(): AsyncIterable<Buffer>;
  /** Drops the body, so that its connection can be used again. */
  drop(): void;
}

/** Translator of one answer in another protocol; a failure that it throws ends the answer. */
export interface SseTranslator {
  /** Adds a server-sent event to `events`; `data`: its text, also `[DONE]`; `name`: its `event:` line. */
  read(data: string, name: string | undefined, events: ModelEvent[]): void;
  /** Adds the last events, when the body has ended or the answer has settled; throws for half an answer. */
  finish(events: ModelEvent[]): void;
  /** True once the last events have been added; the rest of the body is not read. */
  readonly isOver: boolean;
  /** Time without a further event after which the answer is finished, for services that do not end it. */
  readonly settlesInMs: number | undefined;
}

/** Settings of a client that a stage opens. */
export interface ConnectSettings {
  readonly tls?: TlsSettings | undefined;
  /** Max connections at a time, each with one request; further requests wait. Default: no limit. */
  readonly connections?: number | undefined;
  /** Default 10 s. */
  readonly connectTimeoutMs?: number | undefined;
}

/** Client for one origin: connections, proxy, guard of addresses, time limits and decompression. */
export interface HttpClient {
  /** `https://host:port` */
  readonly origin: string;
  /** Path of the base URL without a trailing slash; empty for none. */
  readonly basePath: string;
  /**
   * Sends a request; resolves with the head of the answer, of any status. Throws a `GatewayError` with a `failure` if
   * there is none, and the reason of the signal.
   */
  send(request: HttpRequest, terms: RequestTerms): Promise<HttpAnswer>;
  /** Client of the same settings without open connections; to be closed after use. */
  fresh(): HttpClient;
  /**
   * Diagnosis over new connections: resolves the host, requests the base URL, then `check` with the account,
   * which fails only if that is refused. Stops at the first step that fails.
   */
  diagnose(
    query: Pick<RequestTerms, 'authorize'> & { readonly signal: AbortSignal },
    check?: HttpRequest,
  ): Promise<readonly DiagnosisStep[]>;
  /** Drains: takes no more requests and resolves when the running ones have ended. */
  close(): Promise<void>;
}
