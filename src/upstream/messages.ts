import { estimateTokens, ModelEvent, requestBytes } from '../plugin/index.js';
import type {
  DiagnosisStep,
  ListedModel,
  MessagesResponse,
  ModelEventBatch,
  ModelEvents,
  TokenCount,
  Upstream,
  UpstreamAdapter,
  UpstreamCall,
  UpstreamQuery,
  UpstreamReply,
  UpstreamSettings,
} from '../plugin/index.js';
import { AddressGuard } from '../network/address-guard.js';
import type { BodySink, Backpressure } from './body.js';
import { openEgress, type Egress } from './connections.js';
import { diagnose } from './diagnose.js';
import { EventQueue } from './event-queue.js';
import { Exchange, type Answered, type HttpCall } from './exchange.js';
import { fieldsIn, foreign, isClosedReuse, refusal, unsendable, type Answer } from './failure.js';
import { lowerCase, mediaType, requestHeaders, wrongHeader } from './headers.js';
import { listModels } from './model-list.js';
import { TextBody } from './text-body.js';
import { eventsOf } from './whole-message.js';

/** The adapter of every upstream that speaks the Messages API over HTTP. */
const messages: UpstreamAdapter = {
  kind: 'messages',
  /** Throws where `baseUrl` is missing or no URL. */
  open: (settings) => new MessagesUpstream(settings),
};

export default messages;

/** Max size of a token count or whole message. */
const maxTextBytes = 32 * 1024 * 1024;

/** Max size read of an error, or of a foreign answer. */
const maxErrorBytes = 64 * 1024;

class MessagesUpstream implements Upstream {
  readonly #settings: UpstreamSettings;
  readonly #base: URL;
  readonly #prefix: string;
  readonly #egress: Egress;
  /** Name of an invalid header in the slot's settings, if any. */
  readonly #wrongHeader: string | undefined;

  constructor(settings: UpstreamSettings) {
    this.#settings = { ...settings, headers: lowerCase(settings.headers) };
    this.#wrongHeader = wrongHeader(this.#settings.headers);
    this.#base = baseOf(settings);
    this.#prefix = prefixOf(this.#base);
    this.#egress = this.#openEgress();
  }

  /** Resolves when the answer begins; throws a `GatewayError` with its `failure`, or the signal's reason. */
  async generate(call: UpstreamCall): Promise<UpstreamReply> {
    const answered = await this.#post('/v1/messages', call, call.request, readEvents);
    const { status, headers, body } = answered;
    if (body instanceof EventQueue) return { status, headers, events: body };
    const message = await wholeMessage(this.#settings.id, { status, headers, body });
    return { status, headers, events: oneBatch(eventsOf(message)) };
  }

  /** Upstream's count, or an estimate if it has no such endpoint. Other failures throw as in `generate`. */
  async countTokens(call: UpstreamCall): Promise<TokenCount> {
    const { stream: _, ...request } = call.request;
    const answered = await this.#post('/v1/messages/count_tokens', call, request, readText);
    const text = await answered.body.text;
    if (answered.status >= 400 && !lacksEndpoint(answered, text)) throw refusal(answered, text);
    if (answered.body.error) throw answered.body.error;
    const inputTokens = answered.status === 200 ? tokensIn(text) : undefined;
    return { inputTokens: inputTokens ?? estimateTokens(request), estimated: inputTokens === undefined };
  }

  /**
   * Probes the upstream on new connections, so that the network path is tested and not an open connection.
   */
  async diagnose(
    signal: AbortSignal,
    credential: UpstreamCall['credential'],
  ): Promise<readonly DiagnosisStep[]> {
    const egress = this.#openEgress();
    const modelsPath = `${this.#prefix}/v1/models?limit=1`;
    try {
      return await diagnose({
        settings: this.#settings,
        base: this.#base,
        modelsPath,
        egress,
        signal,
        credential,
      });
    } finally {
      this.#closeLater(egress);
    }
  }

  async models(query: UpstreamQuery): Promise<readonly ListedModel[]> {
    const egress = this.#openEgress();
    try {
      return await listModels({ ...query, settings: this.#settings, prefix: this.#prefix, egress });
    } finally {
      this.#closeLater(egress);
    }
  }

  close(): Promise<void> {
    return this.#egress.close();
  }

  async #post<Body extends BodySink>(
    path: string,
    call: UpstreamCall,
    request: object,
    read: (answer: Answer, flow: Backpressure) => Body,
  ): Promise<Answered<Body>> {
    const { id, headers, connectTimeoutMs } = this.#settings;
    if (this.#wrongHeader !== undefined) throw unsendable(id, this.#wrongHeader);
    const { signal, headersTimeoutMs, idleTimeoutMs, hasContent, credential } = call;
    return this.#send({
      slot: id,
      method: 'POST',
      path: `${this.#prefix}${path}${call.search}`,
      headers: requestHeaders({ call: call.headers, slot: headers, credential }),
      body: requestBytes(request),
      signal,
      connectTimeoutMs,
      headersTimeoutMs,
      idleTimeoutMs,
      ...(hasContent && { hasContent }),
      read,
    });
  }

  /** Sends a call; retries once, on a new connection, if a reused one closed just as the call went out. */
  async #send<Body extends BodySink>(call: HttpCall<Body>): Promise<Answered<Body>> {
    try {
      return await new Exchange(call).send(this.#egress);
    } catch (error) {
      if (!isClosedReuse(error)) throw error;
    }
    const fresh = this.#openEgress();
    try {
      return await new Exchange(call).send(fresh);
    } finally {
      this.#closeLater(fresh);
    }
  }

  #openEgress(): Egress {
    const { proxy, connectTimeoutMs, isGuarded } = this.#settings;
    const guard = isGuarded ? new AddressGuard() : undefined;
    return openEgress({ origin: this.#base.origin, connectTimeoutMs, guard, ...(proxy ? { proxy } : {}) });
  }

  /** Closes the egress of a retry, which first drains its call. */
  #closeLater(egress: Egress): void {
    egress.close().catch((error: unknown) => {
      this.#settings.log.warn({ slot: this.#settings.id, error }, 'A connection could not be closed.');
    });
  }
}

function baseOf({ id, baseUrl = '' }: UpstreamSettings): URL {
  if (!URL.canParse(baseUrl))
    throw new Error(`Slot "${id}" needs a baseUrl: the http or https URL of its upstream.`);
  return new URL(baseUrl);
}

/** Path prefix: the path of the base URL, without the final `/v1` that the gateway adds itself. */
function prefixOf(base: URL): string {
  return base.pathname.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '');
}

function readEvents(answer: Answer, flow: Backpressure): EventQueue | TextBody {
  const isStream = answer.status === 200 && mediaType(answer.headers) === 'text/event-stream';
  return isStream ? new EventQueue(flow) : readText(answer, flow);
}

function readText({ status }: Answer, flow: Backpressure): TextBody {
  return new TextBody(flow, status === 200 ? maxTextBytes : maxErrorBytes);
}

/** Whole message of a service that ignored `stream: true`; throws for any other answer. */
async function wholeMessage(slot: string, answered: Answered<TextBody>): Promise<MessagesResponse> {
  const { status, headers, body } = answered;
  const text = await body.text;
  if (status >= 400) throw refusal(answered, text);
  if (body.error) throw body.error;
  const message = status === 200 ? messageIn(text) : undefined;
  if (message) return message;
  throw foreign(slot, `${status} ${mediaType(headers)}`.trim());
}

async function* oneBatch(batch: ModelEventBatch): ModelEvents {
  yield batch;
}

/** True if this endpoint is missing: status 404, 405 or 501, and a message that is not about the model. */
function lacksEndpoint(answer: Answer, text: string): boolean {
  return [404, 405, 501].includes(answer.status) && !/\bmodel\b/i.test(refusal(answer, text).message);
}

function tokensIn(text: string): number | undefined {
  const tokens = fieldsIn(text)['input_tokens'];
  // No request has zero tokens: that is no count.
  return typeof tokens === 'number' && tokens > 0 ? tokens : undefined;
}

/**
 * Whole message in `text`, validated as a `message_start` event is; undefined if `text` is something else.
 */
function messageIn(text: string): MessagesResponse | undefined {
  const { type, content } = fieldsIn(text);
  if (type !== 'message' || !Array.isArray(content)) return undefined;
  const { json } = new ModelEvent('message_start', `{"message":${text}}`);
  return json.type === 'message_start' ? json.message : undefined;
}
