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
  defineUpstream,
  foreign,
  isErrorBody,
  jsonFields,
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
import { AddedTokens } from '../shared/added-tokens.js';
import { reportTo } from '../shared/losses/dropped.js';
import { estimate } from '../shared/answer/counts.js';
import { oneBatch } from '../shared/answer/one-batch.js';
import { listModels, probeByModels, type Endpoint } from '../shared/openai/openai-models.js';
import { openaiRefusal } from '../shared/openai/openai-refusal.js';
import { promptBytes, promptBytesOf } from '../shared/prompt-bytes.js';
import { responsesOptions, type ResponsesOptions, type ResponsesSettings } from './options.js';
import { refusedIn } from '../shared/losses/refused-part.js';
import { responsesParts } from './refused.js';
import { responsesRequest } from './request/responses-request.js';
import { standIn } from './stand-in/index.js';
import { ResponseEvents } from './stream/response-events.js';
import { settingsFor } from './taken-back.js';

/** Upstreams that speak the Responses API. The base URL is that of an OpenAI SDK, with `/v1` where the server has it. */
export default defineUpstream({
  name: 'responses',
  api: 1,
  options: responsesOptions,
  needs: ['baseUrl'],
  adds: ['/responses'],
  standIn,
  open: (options, host) => new ResponsesUpstream(options, host),
});

/** Parts of a request that become input tokens. */
const prompt = ['input', 'instructions', 'tools'] as const;

/** Max size read of an error, or of a foreign answer. */
const maxErrorBytes = 64 * 1024;

class ResponsesUpstream implements Upstream {
  readonly #slot: string;
  readonly #http: HttpClient;
  readonly #settings: ResponsesSettings;
  readonly #now: () => number;
  readonly #addedTokens = new AddedTokens();

  constructor(options: ResponsesOptions, { slot, http, now }: UpstreamHost) {
    this.#slot = slot.id;
    this.#http = http;
    this.#now = now;
    this.#settings = { ...options, vendor: options.vendor ?? slot.id };
  }

  /** Resolves when the answer begins; throws a `GatewayError` with its `failure`, or the signal's reason. */
  async generate(call: UpstreamCall): Promise<UpstreamReply> {
    const { body, losses, leftOut, names } = responsesRequest(call.request, this.#settings, call);
    reportTo(call, losses, this.#settings.unsupported);
    const sent = Buffer.from(JSON.stringify(body));
    const answer = await this.#http.send({ ...this.#request('/responses'), body: sent }, call);
    const { status, headers } = answer;
    const { vendor } = this.#settings;
    const { model } = call.request;
    const requestBytes = promptBytesOf(body, sent.length, prompt);
    const translator = new ResponseEvents({ model, vendor, names, requestBytes });
    const isStream = status === 200 && (await answer.isEventStream());
    const events = isStream ? answer.translated(translator) : await this.#whole(answer, translator);
    return { status, headers, events, leftOut, addedTokens: this.#added(call, leftOut, requestBytes) };
  }

  /** Tokens of the gateway's additions, by the measure of the answer's estimate. */
  #added(call: UpstreamCall, leftOut: readonly Tool[], bytes: number): number | undefined {
    const isSystemInUser = settingsFor(this.#settings, call).takesSystem === false;
    return this.#addedTokens.of({ call, leftOut, bytes, isSystemInUser }, (request) =>
      this.#promptBytes(request, call),
    );
  }

  /** An estimate, by the measure of the answers' own. */
  async countTokens(call: UpstreamCall): Promise<TokenCount> {
    return { inputTokens: estimate(this.#promptBytes(call.request, call)), estimated: true };
  }

  #promptBytes(request: MessagesRequest, call: UpstreamCall): number {
    const { body } = responsesRequest(request, this.#settings, call);
    return promptBytes(body, prompt);
  }

  refused(error: GatewayError, call: SlotCall): RefusedPart | undefined {
    return refusedIn(responsesParts(this.#settings.encryptedReasoning), error, call);
  }

  /** Over new connections, so that the network path is tested and not an open connection. */
  diagnose(query: UpstreamQuery): Promise<readonly DiagnosisStep[]> {
    return this.#http.diagnose(query, this.#request('/models'));
  }

  /** Over connections of its own, so that those of calls are used for nothing else. */
  async models(query: UpstreamQuery): Promise<readonly ListedModel[]> {
    const http = this.#http.fresh();
    const listing = { slot: this.#slot, kind: 'responses', request: this.#request('/models') };
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
    return { path: `${this.#http.basePath}${path}`, keyHeader: 'authorization' };
  }

  /** Answer of a server that ignored `stream: true`; throws for any other one. */
  async #whole(answer: HttpAnswer, translator: ResponseEvents): Promise<EventStream> {
    const { status, mediaType } = answer;
    const text = await (status === 200 ? answer.text() : answer.text(maxErrorBytes));
    if (status >= 400) throw openaiRefusal(answer, text, this.#now());
    const response = status === 200 ? jsonFields(text) : {};
    if (!Array.isArray(response['output']) && !isErrorBody(response))
      throw foreign(this.#slot, `${status} ${mediaType}`.trim(), { kind: 'responses' });
    const events: ModelEvent[] = [];
    translator.readWhole(response, events, text);
    return oneBatch(events);
  }
}
