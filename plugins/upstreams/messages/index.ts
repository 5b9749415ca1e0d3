import {
  estimateTokens,
  ModelEvent,
  type GatewayError,
  type MessagesRequest,
  type MessagesResponse,
  type SlotCall,
  type TokenCount,
} from '@gw2api/gateway/plugin';
import { requestBytes } from '@gw2api/gateway/plugin/raw';
import {
  defaultAnthropicVersion,
  defineUpstream,
  errorFromEvent,
  foreign,
  isErrorBody,
  jsonFields,
  mendedMessage,
  refusal,
  type DiagnosisStep,
  type HttpAnswer,
  type HttpClient,
  type ListedModel,
  type RefusedPart,
  type Upstream,
  type UpstreamCall,
  type UpstreamHost,
  type UpstreamQuery,
  type UpstreamReply,
} from '@gw2api/gateway/plugin/upstream';
import { withCapability } from '../shared/messages/capability.js';
import { reportTo } from '../shared/losses/dropped.js';
import { messagesParts } from '../shared/messages/messages-refused.js';
import { oneBatch } from '../shared/answer/one-batch.js';
import { refusedIn, type FindPart } from '../shared/losses/refused-part.js';
import {
  messagesRequest,
  messagesOptions,
  type MessagesCall,
  type MessagesOptions,
} from './messages-request.js';
import { listModels } from './model-list.js';
import { eventsOf } from './whole-message.js';

/** Upstreams that speak the Messages API over HTTP. */
export default defineUpstream({
  name: 'messages',
  api: 1,
  options: messagesOptions,
  needs: ['baseUrl', 'account'],
  adds: ['/v1', '/v1/messages'],
  open: (options, host) => new MessagesUpstream(options, host),
});

/** Max size read of an error, or of a foreign answer. */
const maxErrorBytes = 64 * 1024;

class MessagesUpstream implements Upstream {
  readonly #slot: string;
  readonly #http: HttpClient;
  /** Path prefix: the path of the base URL, without the final `/v1` that is added to all paths. */
  readonly #prefix: string;
  readonly #options: MessagesOptions;
  readonly #parts: readonly FindPart[];

  constructor(options: MessagesOptions, { slot, http }: UpstreamHost) {
    this.#slot = slot.id;
    this.#http = http;
    this.#options = options;
    this.#parts = messagesParts(options);
    this.#prefix = http.basePath.replace(/\/v1$/, '');
  }

  /** Resolves when the answer begins; throws a `GatewayError` with its `failure`, or the signal's reason. */
  async generate(call: UpstreamCall): Promise<UpstreamReply> {
    const fitted = messagesRequest(call, this.#options);
    const { request, losses, leftOut, keys } = fitted;
    reportTo(call, losses);
    const answer = await this.#post('/v1/messages', call, fitted);
    const { status, headers } = answer;
    const isStream = status === 200 && (await answer.isEventStream());
    const events = isStream
      ? answer.events()
      : oneBatch(eventsOf(await wholeMessage(this.#slot, answer, request)));
    return { status, headers, events: keys.inAnswer(events), leftOut };
  }

  /** Upstream's count, or an estimate if it has no such endpoint. Other failures throw as in `generate`. */
  async countTokens(call: UpstreamCall): Promise<TokenCount> {
    const { request: fitted, headers } = messagesRequest(call, this.#options);
    const request = countable(fitted);
    const answer = await this.#post('/v1/messages/count_tokens', call, { request, headers });
    const text = await textOf(answer);
    if (answer.status >= 400 && !lacksEndpoint(answer, text)) throw refusal(answer, text);
    const inputTokens = answer.status === 200 ? tokensIn(text) : undefined;
    return { inputTokens: inputTokens ?? estimateTokens(request), estimated: inputTokens === undefined };
  }

  refused(error: GatewayError, call: SlotCall): RefusedPart | undefined {
    return refusedIn(this.#parts, error, call);
  }

  /** New connections, so that the network path is tested and not an open connection. */
  diagnose(query: UpstreamQuery): Promise<readonly DiagnosisStep[]> {
    return this.#http.diagnose(query, {
      path: `${this.#prefix}/v1/models?limit=1`,
      headers: { 'anthropic-version': defaultAnthropicVersion },
    });
  }

  /** Separate connections, so that those of calls are used for nothing else. */
  async models(query: UpstreamQuery): Promise<readonly ListedModel[]> {
    const http = this.#http.fresh();
    try {
      return await listModels({ ...query, slot: this.#slot, prefix: this.#prefix, http });
    } finally {
      void http.close();
    }
  }

  #post(path: string, call: UpstreamCall, { request, headers }: Sent): Promise<HttpAnswer> {
    return this.#http.send(
      { path: `${this.#prefix}${path}${call.search}`, headers, body: requestBytes(request) },
      call,
    );
  }
}

type Sent = Pick<MessagesCall, 'request' | 'headers'>;

/** The request without the fields that the count of the Messages API does not take. */
function countable(request: MessagesRequest): MessagesRequest {
  const entries = Object.entries(request).filter(([name]) => !notCounted.has(name));
  return Object.fromEntries(entries) as unknown as MessagesRequest; // its essential fields stay
}

const notCounted: ReadonlySet<string> = new Set([
  'stream',
  'max_tokens',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'metadata',
  'service_tier',
  'container',
  'inference_geo',
]);

function textOf(answer: HttpAnswer): Promise<string> {
  return answer.status === 200 ? answer.text() : answer.text(maxErrorBytes);
}

/** Whole message of a service that ignored `stream: true`; throws for any other answer. */
async function wholeMessage(
  slot: string,
  answer: HttpAnswer,
  request: MessagesRequest,
): Promise<MessagesResponse> {
  const { status, mediaType } = answer;
  const text = await textOf(answer);
  if (status >= 400) throw refusalOf(answer, text);
  const message = status === 200 ? messageIn(text, request) : undefined;
  if (message) return message;
  const body = status === 200 ? jsonFields(text) : {};
  if (isErrorBody(body)) throw errorFromEvent({ ...body, type: 'error' });
  throw foreign(slot, `${status} ${mediaType}`.trim(), { kind: 'messages' });
}

/** Error of a refused call; one that is not in the envelope of the Messages API has a token beside its words. */
function refusalOf(answer: HttpAnswer, text: string): GatewayError {
  const error = refusal(answer, text);
  return jsonFields(text)['type'] === 'error' ? error : withCapability(error);
}

/** True if this endpoint is missing: status 404, 405 or 501, and a message that is not about the model. */
function lacksEndpoint(answer: HttpAnswer, text: string): boolean {
  return [404, 405, 501].includes(answer.status) && !/\bmodel\b/i.test(refusal(answer, text).message);
}

function tokensIn(text: string): number | undefined {
  const tokens = jsonFields(text)['input_tokens'];
  // No request has zero tokens: that is not a count.
  return typeof tokens === 'number' && tokens > 0 ? tokens : undefined;
}

/**
 * Whole message in `text`, repaired like a stream; undefined if `text` is something else. Throws for one that remains
 * invalid.
 */
function messageIn(text: string, request: MessagesRequest): MessagesResponse | undefined {
  const fields = jsonFields(text);
  if (fields['type'] !== 'message' || !Array.isArray(fields['content'])) return undefined;
  const mended = mendedMessage(fields, JSON.stringify(request).length);
  if (mended) return mended;
  const { json } = new ModelEvent('message_start', `{"message":${text}}`);
  return json.type === 'message_start' ? json.message : undefined;
}
