import {
  estimateTokens,
  Type,
  type GatewayError,
  type SlotCall,
  type TokenCount,
} from '@gw2api/gateway/plugin';
import type { Static } from 'typebox';
import { requestBytes } from '@gw2api/gateway/plugin/raw';
import {
  defineUpstream,
  foreign,
  jsonFields,
  type DiagnosisStep,
  type HttpAnswer,
  type HttpClient,
  type RefusedPart,
  type Upstream,
  type UpstreamCall,
  type UpstreamHost,
  type UpstreamQuery,
  type UpstreamReply,
} from '@gw2api/gateway/plugin/upstream';
import { withCapability } from '../shared/messages/capability.js';
import { diagnoseByProbe } from '../shared/messages/diagnose-by-probe.js';
import { reportTo } from '../shared/losses/dropped.js';
import { googleError, googleRefusal } from '../shared/google-refusal.js';
import { fittedCall, type MessagesFeatures } from '../shared/messages/messages-call.js';
import { messagesParts } from '../shared/messages/messages-refused.js';
import { refusedIn, type FindPart } from '../shared/losses/refused-part.js';
import { schemaOptions } from '../shared/messages/schema-options.js';
import { serverToolsOption } from '../shared/messages/server-tools.js';
import { knownModels } from './known-models.js';
import { modelSegment, predictBody, predictHeaders, regionUrl, withVersion } from './wire.js';

const options = Type.Object(
  {
    project: Type.String({ pattern: '^[a-z0-9.:-]{1,100}$', description: 'Id of the project.' }),
    region: Type.String({
      pattern: '^[a-z0-9-]{1,40}$',
      default: 'global',
      description:
        'A region such as us-east5, or global, us or eu. It determines the host, unless the slot has a baseUrl (which ends in /v1).',
    }),
    serverTools: serverToolsOption({ default: ['web_search'] }),
    // An organization has to allow them first.
    ...schemaOptions(false),
  },
  { title: 'Claude on Vertex AI' },
);

type VertexOptions = Static<typeof options>;

/** Claude on Vertex AI of Google Cloud, by `streamRawPredict`. */
export default defineUpstream({
  name: 'vertex',
  api: 1,
  options,
  needs: ['account'],
  baseUrl: ({ region }) => regionUrl(region),
  open: (given, host) => new VertexUpstream(given, host),
});

const maxErrorBytes = 64 * 1024;
const probeTimeoutMs = 10_000;

class VertexUpstream implements Upstream {
  readonly knownModels = knownModels;
  readonly #slot: string;
  readonly #now: UpstreamHost['now'];
  readonly #http: HttpClient;
  readonly #models: string;
  readonly #features: MessagesFeatures;
  readonly #parts: readonly FindPart[];

  constructor({ project, region, ...features }: VertexOptions, { slot, http, now }: UpstreamHost) {
    this.#slot = slot.id;
    this.#now = now;
    this.#http = http;
    this.#models = `${http.basePath}/projects/${project}/locations/${region}/publishers/anthropic/models`;
    this.#features = { ...features, topLevelMarker: false };
    this.#parts = messagesParts(features);
  }

  /** Resolves when the answer begins; throws a `GatewayError` with its `failure`, or the signal's reason. */
  async generate(call: UpstreamCall): Promise<UpstreamReply> {
    const { request, losses, leftOut, keys } = fittedCall(call, this.#features);
    reportTo(call, losses);
    const path = `${modelSegment(request.model)}:streamRawPredict`;
    const answer = await this.#post(path, call, predictBody(request, call.headers));
    const { status, headers, mediaType } = answer;
    if (status === 200 && (await answer.isEventStream()))
      return { status, headers, events: keys.inAnswer(answer.events()), leftOut };
    const text = await answer.text(maxErrorBytes);
    if (status >= 400 || googleError(text)) throw withCapability(googleRefusal(answer, text));
    throw foreign(this.#slot, `${status} ${mediaType}`.trim(), { kind: 'vertex' });
  }

  /** Count of the upstream, or an estimate in regions without one. */
  async countTokens(call: UpstreamCall): Promise<TokenCount> {
    const { stream: _, ...request } = fittedCall(call, this.#features).request;
    const answer = await this.#post(countPath, call, withVersion(request, call.headers));
    const text = await answer.text(maxErrorBytes);
    if (answer.status >= 400 && !lacksCounts(answer, text)) throw googleRefusal(answer, text);
    const { input_tokens: tokens } = answer.status === 200 ? jsonFields(text) : {};
    const isCount = typeof tokens === 'number' && tokens > 0;
    return { inputTokens: isCount ? tokens : estimateTokens(request), estimated: !isCount };
  }

  refused(error: GatewayError, call: SlotCall): RefusedPart | undefined {
    return refusedIn(this.#parts, error, call);
  }

  /** Counts the tokens of an empty request: its refusal shows that the account has been accepted. */
  async probe({ signal, authorize }: UpstreamQuery): Promise<void> {
    const terms = { signal, authorize, headersTimeoutMs: probeTimeoutMs, idleTimeoutMs: probeTimeoutMs };
    const answer = await this.#http.send({ path: `${this.#models}/${countPath}`, body: '{}' }, terms);
    const text = await answer.text(maxErrorBytes);
    if (answer.status >= 400 && ![400, 404].includes(answer.status)) throw googleRefusal(answer, text);
  }

  diagnose(query: UpstreamQuery): Promise<readonly DiagnosisStep[]> {
    return diagnoseByProbe({ http: this.#http, now: this.#now }, query, (asked) => this.probe(asked));
  }

  /** Sends a call; the caller's query is not passed on. */
  #post(path: string, call: UpstreamCall, request: object): Promise<HttpAnswer> {
    const body = requestBytes(request);
    const headers = predictHeaders(call.headers);
    return this.#http.send({ path: `${this.#models}/${path}`, headers, body }, call);
  }
}

const countPath = 'count-tokens:rawPredict';

/** True for an answer that reports no token counts in this region, rather than a missing model. */
function lacksCounts(answer: HttpAnswer, text: string): boolean {
  if (![404, 405, 501].includes(answer.status)) return false;
  const { message } = googleRefusal(answer, text);
  return message.includes('count-tokens') || !/\bmodel\b/i.test(message);
}
