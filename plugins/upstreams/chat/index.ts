import {
  Type,
  type EventStream,
  type GatewayError,
  type MessagesRequest,
  type SlotCall,
  type TokenCount,
  type Tool,
} from '@gw2api/gateway/plugin';
import {
  defineUpstream,
  foreign,
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
import type { Static } from 'typebox';
import { AddedTokens } from '../shared/added-tokens.js';
import { reportTo } from '../shared/losses/dropped.js';
import { estimate } from '../shared/answer/counts.js';
import { oneBatch } from '../shared/answer/one-batch.js';
import { listModels, probeByModels, type Endpoint } from '../shared/openai/openai-models.js';
import { openaiRefusal } from '../shared/openai/openai-refusal.js';
import { refusedIn } from '../shared/losses/refused-part.js';
import { capabilitiesOf, chatOptions, type Capabilities } from './capabilities.js';
import { chatRequest } from './request/chat-request.js';
import { chatPromptBytes } from './request/prompt-bytes.js';
import { chatParts } from './refused.js';
import { standIn } from './stand-in/index.js';
import { ChatAnswer } from './stream/chat-answer.js';
import { wholeAnswer } from './stream/whole-answer.js';
import { capabilitiesFor } from './taken-back.js';

const options = Type.Object(
  {
    ...chatOptions.properties,
    /** Query parameter `api-version` of Azure OpenAI. */
    apiVersion: Type.Optional(Type.String({ minLength: 1, title: 'API version' })),
  },
  { title: 'Chat Completions API' },
);

/**
 * Upstreams that speak Chat Completions. The base URL is that of an OpenAI SDK, with `/v1` where the server has
 * it.
 */
export default defineUpstream({
  name: 'chat',
  api: 1,
  options,
  needs: ['baseUrl'],
  adds: ['/chat/completions'],
  standIn,
  open: (given, host) => new ChatUpstream(given, host),
});

/** Max size read of an error, or of a foreign answer. */
const maxErrorBytes = 64 * 1024;

class ChatUpstream implements Upstream {
  readonly #slot: string;
  readonly #http: HttpClient;
  readonly #capabilities: Capabilities;
  readonly #search: string;
  readonly #keyHeader: string;
  readonly #now: () => number;
  readonly #reportLeftOut: () => void;
  readonly #addedTokens = new AddedTokens();

  constructor({ apiVersion, ...given }: Static<typeof options>, { slot, http, now, log }: UpstreamHost) {
    this.#slot = slot.id;
    this.#http = http;
    this.#now = now;
    this.#reportLeftOut = () =>
      log.warn({ slot: slot.id }, 'Left an event out of a stream that was cut before any text.');
    this.#capabilities = capabilitiesOf(given, slot.id);
    this.#search = apiVersion === undefined ? '' : `?api-version=${encodeURIComponent(apiVersion)}`;
    this.#keyHeader = given.preset === 'azure-openai' ? 'api-key' : 'authorization';
  }

  /** Resolves when the answer begins; throws a `GatewayError` with its `failure`, or the signal's reason. */
  async generate(call: UpstreamCall): Promise<UpstreamReply> {
    const { body, losses, leftOut, names } = chatRequest(call.request, this.#capabilities, call);
    reportTo(call, losses, this.#capabilities.unsupported);
    const sent = Buffer.from(JSON.stringify(body));
    const answer = await this.#http.send({ ...this.#request('/chat/completions'), body: sent }, call);
    const { status, headers } = answer;
    const { model } = call.request;
    const { vendor, finishReason, thinkTags } = this.#capabilities;
    const onLeftOut = call.isWhole === false ? this.#reportLeftOut : undefined;
    const isReasonOptional = finishReason === 'optional';
    const requestBytes = chatPromptBytes(body, this.#capabilities, sent.length);
    const asked = { model, names, requestBytes, onLeftOut, hasLogprobs: body['logprobs'] === true };
    const translator = new ChatAnswer({ ...asked, vendor, isReasonOptional, thinkTags });
    const isStream = status === 200 && (await answer.isEventStream());
    const events = isStream ? answer.translated(translator) : await this.#whole(answer, translator);
    return { status, headers, events, leftOut, addedTokens: this.#added(call, leftOut, requestBytes) };
  }

  /** Tokens of the gateway's additions, by the measure of the answer's estimate. */
  #added(call: UpstreamCall, leftOut: readonly Tool[], bytes: number): number | undefined {
    const isSystemInUser = capabilitiesFor(this.#capabilities, call).systemRole === 'user';
    return this.#addedTokens.of({ call, leftOut, bytes, isSystemInUser }, (request) =>
      this.#promptBytes(request, call),
    );
  }

  /** An estimate, by the measure of the answers' own. */
  async countTokens(call: UpstreamCall): Promise<TokenCount> {
    return { inputTokens: estimate(this.#promptBytes(call.request, call)), estimated: true };
  }

  #promptBytes(request: MessagesRequest, call: UpstreamCall): number {
    const { body } = chatRequest(request, this.#capabilities, call);
    return chatPromptBytes(body, this.#capabilities);
  }

  refused(error: GatewayError, call: SlotCall): RefusedPart | undefined {
    return refusedIn(chatParts(this.#capabilities), error, call);
  }

  /** Over new connections, so that the network path is tested and not an open connection. */
  diagnose(query: UpstreamQuery): Promise<readonly DiagnosisStep[]> {
    return this.#http.diagnose(query, this.#request('/models'));
  }

  /** Over connections of its own, so that those of calls are used for nothing else. */
  async models(query: UpstreamQuery): Promise<readonly ListedModel[]> {
    const http = this.#http.fresh();
    try {
      const request = this.#request('/models');
      return await listModels({ ...query, slot: this.#slot, kind: 'chat', request, http, now: this.#now });
    } finally {
      void http.close();
    }
  }

  /** Lists the models, which costs nothing. */
  probe(query: UpstreamQuery): Promise<void> {
    return probeByModels(() => this.models(query));
  }

  #request(path: string): Endpoint {
    return { path: `${this.#http.basePath}${path}${this.#search}`, keyHeader: this.#keyHeader };
  }

  /** Answer of a server that ignored `stream: true`; throws for any other one. */
  async #whole(answer: HttpAnswer, translator: ChatAnswer): Promise<EventStream> {
    const { status, mediaType } = answer;
    const text = await (status === 200 ? answer.text() : answer.text(maxErrorBytes));
    if (status >= 400) throw openaiRefusal(answer, text, this.#now());
    const events = status === 200 ? wholeAnswer(text, translator) : undefined;
    if (!events) throw foreign(this.#slot, `${status} ${mediaType}`.trim(), { kind: 'chat' });
    return oneBatch(events);
  }
}
