import type {
  EventStream,
  GatewayError,
  MessagesRequest,
  ModelEvent,
  SlotCall,
  TokenCount,
  Tool,
} from '@gw2api/gateway/plugin';
import {
  foreign,
  isErrorBody,
  jsonFields,
  type DiagnosisStep,
  type HttpAnswer,
  type HttpClient,
  type ListedModel,
  type RefusedPart,
  type SseTranslator,
  type Upstream,
  type UpstreamCall,
  type UpstreamHost,
  type UpstreamQuery,
  type UpstreamReply,
} from '@gw2api/gateway/plugin/upstream';
import { AddedTokens } from '../added-tokens.js';
import { estimate } from '../answer/counts.js';
import { oneBatch } from '../answer/one-batch.js';
import type { Fields } from '../fields.js';
import { reportTo } from '../losses/dropped.js';
import { refusedIn, type FindPart } from '../losses/refused-part.js';
import { listModels, probeByModels, type Endpoint } from './openai-models.js';
import { openaiRefusal } from './openai-refusal.js';

/** Request of one of OpenAI's APIs, and the losses of its translation from a Messages request. */
interface WrittenRequest {
  readonly body: object;
  readonly losses: Parameters<typeof reportTo>[1];
  /** Tools of the gateway that are not sent. */
  readonly leftOut: readonly Tool[];
}

/** Reader of an answer, streamed or whole. */
interface AnswerReader extends SseTranslator {
  readWhole(answer: Fields, events: ModelEvent[], json: string): void;
}

/** One of OpenAI's APIs, as a slot speaks it. */
export interface OpenaiDialect<Request extends WrittenRequest> {
  readonly kind: string;
  /** Path of calls below the base URL. */
  readonly path: string;
  /** Query of all paths; default: none. */
  readonly search?: string;
  readonly keyHeader: string;
  readonly unsupported: 'report' | 'reject' | undefined;
  /** List that every whole answer has. */
  readonly list: string;
  readonly parts: () => readonly FindPart[];
  /** True if system text becomes part of the user's text. */
  readonly isSystemInUser: (call: UpstreamCall) => boolean;
  readonly write: (request: MessagesRequest, call: UpstreamCall) => Request;
  /** Size of the parts of a body that become input tokens; `totalBytes`: size of the whole body, if known. */
  readonly promptBytes: (body: Request['body'], totalBytes?: number) => number;
  readonly reader: (call: UpstreamCall, written: Request, requestBytes: number) => AnswerReader;
}

/** Max size read of an error, or of a foreign answer. */
const maxErrorBytes = 64 * 1024;

/** Upstream that speaks one of OpenAI's APIs. */
export class OpenaiUpstream<Request extends WrittenRequest> implements Upstream {
  readonly #dialect: OpenaiDialect<Request>;
  readonly #slot: string;
  readonly #http: HttpClient;
  readonly #now: () => number;
  readonly #addedTokens = new AddedTokens();

  constructor(dialect: OpenaiDialect<Request>, { slot, http, now }: UpstreamHost) {
    this.#dialect = dialect;
    this.#slot = slot.id;
    this.#http = http;
    this.#now = now;
  }

  /** Resolves when the answer begins; throws a `GatewayError` with its `failure`, or the signal's reason. */
  async generate(call: UpstreamCall): Promise<UpstreamReply> {
    const { path, unsupported, write, promptBytes, reader } = this.#dialect;
    const written = write(call.request, call);
    const { body, losses, leftOut } = written;
    reportTo(call, losses, unsupported);
    const sent = Buffer.from(JSON.stringify(body));
    const answer = await this.#http.send({ ...this.#request(path), body: sent }, call);
    const { status, headers } = answer;
    const requestBytes = promptBytes(body, sent.length);
    const translator = reader(call, written, requestBytes);
    const isStream = status === 200 && (await answer.isEventStream());
    const events = isStream ? answer.translated(translator) : await this.#whole(answer, translator);
    return { status, headers, events, leftOut, addedTokens: this.#added(call, leftOut, requestBytes) };
  }

  /** Tokens of the gateway's additions, by the measure of the answer's estimate. */
  #added(call: UpstreamCall, leftOut: readonly Tool[], bytes: number): number | undefined {
    const isSystemInUser = this.#dialect.isSystemInUser(call);
    return this.#addedTokens.of({ call, leftOut, bytes, isSystemInUser }, (request) =>
      this.#promptBytes(request, call),
    );
  }

  /** An estimate, by the same measure as that of the answers. */
  async countTokens(call: UpstreamCall): Promise<TokenCount> {
    return { inputTokens: estimate(this.#promptBytes(call.request, call)), estimated: true };
  }

  #promptBytes(request: MessagesRequest, call: UpstreamCall): number {
    const { write, promptBytes } = this.#dialect;
    return promptBytes(write(request, call).body);
  }

  refused(error: GatewayError, call: SlotCall): RefusedPart | undefined {
    return refusedIn(this.#dialect.parts(), error, call);
  }

  /** New connections, so that the network path is tested and not an open connection. */
  diagnose(query: UpstreamQuery): Promise<readonly DiagnosisStep[]> {
    return this.#http.diagnose(query, this.#request('/models'));
  }

  /** Separate connections, so that those of calls are used for nothing else. */
  async models(query: UpstreamQuery): Promise<readonly ListedModel[]> {
    const http = this.#http.fresh();
    const { kind } = this.#dialect;
    const listing = { slot: this.#slot, kind, request: this.#request('/models') };
    try {
      return await listModels({ ...query, ...listing, http, now: this.#now });
    } finally {
      void http.close();
    }
  }

  /** Lists the models, which costs nothing. */
  probe(query: UpstreamQuery): Promise<void> {
    return probeByModels(() => this.models(query));
  }

  #request(path: string): Endpoint {
    const { search = '', keyHeader } = this.#dialect;
    return { path: `${this.#http.basePath}${path}${search}`, keyHeader };
  }

  /** Answer of a server that ignored `stream: true`; throws for any other one. */
  async #whole(answer: HttpAnswer, reader: AnswerReader): Promise<EventStream> {
    const { status, mediaType } = answer;
    const text = await (status === 200 ? answer.text() : answer.text(maxErrorBytes));
    if (status >= 400) throw openaiRefusal(answer, text, this.#now());
    const { kind, list } = this.#dialect;
    const body = status === 200 ? jsonFields(text) : {};
    if (!Array.isArray(body[list]) && !isErrorBody(body))
      throw foreign(this.#slot, `${status} ${mediaType}`.trim(), { kind });
    const events: ModelEvent[] = [];
    reader.readWhole(body, events, text);
    return oneBatch(events);
  }
}
