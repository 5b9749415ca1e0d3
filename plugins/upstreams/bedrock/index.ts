import {
  estimateTokens,
  Type,
  withFields,
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
import { fittedCall, type FittedCall, type MessagesFeatures } from '../shared/messages/messages-call.js';
import { refusedIn, type FindPart } from '../shared/losses/refused-part.js';
import { schemaOptions } from '../shared/messages/schema-options.js';
import { serverToolsOption } from '../shared/messages/server-tools.js';
import { betaNames, flagsOf, sortBetas, type SortedBetas } from './betas.js';
import { frameEvents } from './frame-events.js';
import { countBody, invokeBody, invokeHeaders } from './invoke-body.js';
import { knownModels } from './known-models.js';
import { baseModel, modelPath } from './model-path.js';
import { bedrockParts } from './refused.js';
import { bedrockRefusal, isAuthenticated } from './refusals.js';
import { standIn } from './stand-in.js';

const options = Type.Object(
  {
    region: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9-]{1,40}$',
        title: 'Region',
        description:
          'Determines the base URL https://bedrock-runtime.REGION.amazonaws.com; baseUrl overrides it.',
      }),
    ),
    betas: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      default: [],
      description:
        'Beta flags to pass on beside those that Bedrock is known to accept (it refuses a request with any other). The others are left out and named in x-gw-dropped.',
    }),
    serverTools: serverToolsOption({ default: [] }),
    ...schemaOptions(false),
  },
  { title: 'Amazon Bedrock (Claude)' },
);

type BedrockOptions = Static<typeof options>;

/** Claude on Amazon Bedrock by InvokeModelWithResponseStream: the binary event stream of AWS. */
export default defineUpstream({
  name: 'bedrock',
  api: 1,
  needs: ['baseUrl', 'account'],
  options,
  baseUrl: ({ region }) => region && `https://bedrock-runtime.${region}.amazonaws.com`,
  standIn,
  open: (options, host) => new BedrockUpstream(options, host),
});

const maxErrorBytes = 64 * 1024;
const probeTimeoutMs = 10_000;

class BedrockUpstream implements Upstream {
  readonly knownModels: Upstream['knownModels'];
  readonly #slot: string;
  readonly #http: HttpClient;
  readonly #now: () => number;
  readonly #betas: ReadonlySet<string>;
  readonly #features: MessagesFeatures;
  readonly #parts: readonly FindPart[];

  constructor(
    { region, betas, serverTools, strictTools, structuredOutput }: BedrockOptions,
    { slot, http, now }: UpstreamHost,
  ) {
    this.knownModels = knownModels(region);
    this.#slot = slot.id;
    this.#http = http;
    this.#now = now;
    this.#betas = new Set([...betaNames, ...betas]);
    this.#features = { serverTools, strictTools, structuredOutput, topLevelMarker: false };
    this.#parts = bedrockParts(this.#betas, { strictTools, structuredOutput });
  }

  /** Resolves when the answer begins; throws a `GatewayError` with its `failure`, or the signal's reason. */
  async generate(call: UpstreamCall): Promise<UpstreamReply> {
    const betas = sortBetas(call.headers['anthropic-beta'], this.#betas);
    const { request, losses, leftOut, keys } = this.#fitted(call, betas);
    reportTo(call, losses);
    const body = requestBytes(invokeBody(request, call.headers, betas.passed));
    const answer = await this.#post(`${modelPath(request.model)}/invoke-with-response-stream`, call, body);
    const { status, mediaType } = answer;
    if (status >= 400) throw withCapability(bedrockRefusal(answer, await answer.text(maxErrorBytes)));
    if (status !== 200 || mediaType !== frameType) {
      answer.drop();
      throw foreign(this.#slot, `${status} ${mediaType}`.trim(), { kind: 'bedrock' });
    }
    const headers = withRequestId(answer.headers);
    return { status, headers, events: keys.inAnswer(answer.events(frameEvents())), leftOut };
  }

  /** Count of Bedrock, or an estimate for models and accounts that it does not count for. */
  async countTokens(call: UpstreamCall): Promise<TokenCount> {
    const betas = sortBetas(call.headers['anthropic-beta'], this.#betas);
    const { stream: _, ...request } = this.#fitted(call, betas).request;
    const body = Buffer.from(JSON.stringify(countBody(request, call.headers, betas.passed)));
    const answer = await this.#post(`${modelPath(baseModel(request.model))}/count-tokens`, call, body);
    const text = await answer.text(maxErrorBytes);
    const refused = answer.status >= 400 ? bedrockRefusal(answer, text) : undefined;
    if (refused && !isUncounted(refused)) throw refused;
    const { inputTokens } = refused ? {} : jsonFields(text);
    const isCount = typeof inputTokens === 'number' && inputTokens > 0;
    return { inputTokens: isCount ? inputTokens : estimateTokens(request), estimated: !isCount };
  }

  refused(error: GatewayError, call: SlotCall): RefusedPart | undefined {
    return refusedIn(this.#parts, error, call);
  }

  /** Counts the tokens of an empty request, which is refused once the credential has been accepted. */
  async probe({ signal, authorize }: UpstreamQuery): Promise<void> {
    const timeouts = { headersTimeoutMs: probeTimeoutMs, idleTimeoutMs: probeTimeoutMs };
    const path = `${this.#http.basePath}${modelPath('anthropic.claude')}/count-tokens`;
    const answer = await this.#http.send({ path, body: '{}' }, { signal, authorize, ...timeouts });
    const text = await answer.text(maxErrorBytes);
    if (answer.status >= 400 && !isAuthenticated(answer, text)) throw bedrockRefusal(answer, text);
  }

  diagnose(query: UpstreamQuery): Promise<readonly DiagnosisStep[]> {
    return diagnoseByProbe({ http: this.#http, now: this.#now }, query, (asked) => this.probe(asked));
  }

  #fitted(call: SlotCall, betas: SortedBetas): FittedCall {
    const fitted = fittedCall(call, {
      ...this.#features,
      cacheTtl: takesTtl(call.request.model),
      leftOutFlags: flagsOf(betas),
    });
    return { ...fitted, losses: [...betas.dropped, ...fitted.losses] };
  }

  /** Sends a call; the caller's query is not passed on. */
  #post(path: string, call: UpstreamCall, body: Buffer): Promise<HttpAnswer> {
    const headers = invokeHeaders(call.headers);
    return this.#http.send({ path: `${this.#http.basePath}${path}`, headers, body }, call);
  }
}

const frameType = 'application/vnd.amazon.eventstream';

/** True for a model that CountTokens does not know, and for an account that may not use it. */
function isUncounted({ code, message }: GatewayError): boolean {
  return (
    code === 'AccessDeniedException' || /support counting tokens|model identifier is invalid/i.test(message)
  );
}

/** Headers with the request's id under the name that callers know it by. */
function withRequestId(headers: HttpAnswer['headers']): HttpAnswer['headers'] {
  const id = headers['x-amzn-requestid'];
  return id === undefined ? headers : withFields(headers, { 'request-id': id });
}

/**
 * True for models that take a ttl on cache markers: Claude 4.5 and later, and names without a version, such as the ARN
 * of an application's inference profile. https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
export function takesTtl(model: string): boolean {
  const [, old, major, minor = '0'] = version.exec(model.slice(0, 300)) ?? [];
  if (old !== undefined) return false;
  return major === undefined || Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 5);
}

/** `claude-sonnet-4-5-20250929`, `claude-3-5-haiku-20241022`, `claude-v2`, `claude-instant-v1`. */
const version = /claude-(?:(instant|v\d)|(?:[a-z]+-)?(\d{1,2})(?:-(\d{1,2})(?!\d))?)/;
