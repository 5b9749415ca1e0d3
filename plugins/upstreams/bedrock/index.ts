import { estimateTokens, Type, withFields, type GatewayError, type TokenCount } from 'gw2api/plugin';
import { requestBytes } from 'gw2api/plugin/raw';
import {
  defineUpstream,
  foreign,
  jsonFields,
  narrowedForMessages,
  type DiagnosisStep,
  type HttpAnswer,
  type HttpClient,
  type Upstream,
  type UpstreamCall,
  type UpstreamHost,
  type UpstreamQuery,
  type UpstreamReply,
} from 'gw2api/plugin/upstream';
import { withFittedSchemas } from '../shared/anthropic-schemas.js';
import { withObjectInputs } from '../shared/call-inputs.js';
import { diagnoseByProbe } from '../shared/diagnose-by-probe.js';
import { reportTo } from '../shared/dropped.js';
import { withoutLateSystem } from '../shared/late-system.js';
import { schemaOptions, type SchemaOptions } from '../shared/schema-options.js';
import { betaNames, sortBetas } from './betas.js';
import { frameEvents } from './frame-events.js';
import { countBody, invokeBody, invokeHeaders } from './invoke-body.js';
import { baseModel, modelPath } from './model-path.js';
import { bedrockRefusal, isAuthenticated } from './refusals.js';
import { standIn } from './stand-in.js';

/** Claude on Amazon Bedrock by InvokeModelWithResponseStream: the binary event stream of AWS. */
export default defineUpstream({
  name: 'bedrock',
  api: 1,
  needs: ['baseUrl', 'account'],
  options: Type.Object(
    {
      region: Type.Optional(
        Type.String({
          pattern: '^[a-z0-9-]{1,40}$',
          title: 'Region',
          description: 'Region of the service, such as us-east-1; a slot with a base URL needs none.',
        }),
      ),
      betas: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        default: [],
        description:
          'Beta flags to pass on beside those that Bedrock is known to take; it refuses any other.',
      }),
      ...schemaOptions(false),
    },
    { title: 'Amazon Bedrock (Claude)' },
  ),
  baseUrl: ({ region }) => region && `https://bedrock-runtime.${region}.amazonaws.com`,
  standIn,
  open: (options, host) => new BedrockUpstream(host, options),
});

const maxErrorBytes = 64 * 1024;
const probeTimeoutMs = 10_000;

class BedrockUpstream implements Upstream {
  readonly #slot: string;
  readonly #http: HttpClient;
  readonly #now: () => number;
  readonly #betas: ReadonlySet<string>;
  readonly #options: SchemaOptions;

  constructor(
    { slot, http, now }: UpstreamHost,
    { betas, ...options }: SchemaOptions & { readonly betas: readonly string[] },
  ) {
    this.#options = options;
    this.#slot = slot.id;
    this.#http = http;
    this.#now = now;
    this.#betas = new Set([...betaNames, ...betas]);
  }

  /** Resolves when the answer begins; throws a `GatewayError` with its `failure`, or the signal's reason. */
  async generate(given: UpstreamCall): Promise<UpstreamReply> {
    const { call, losses, keys } = withFittedSchemas(narrowedForMessages(given), this.#options);
    const { request, cut } = withObjectInputs(call.request);
    const { headers: asked } = call;
    const betas = sortBetas(asked['anthropic-beta'], this.#betas);
    reportTo(call, [...cut, ...losses, ...betas.dropped]);
    const body = requestBytes(invokeBody(withoutLateSystem(request, call), asked, betas.passed));
    const answer = await this.#post(`${modelPath(request.model)}/invoke-with-response-stream`, call, body);
    const { status, mediaType } = answer;
    if (status >= 400) throw bedrockRefusal(answer, await answer.text(maxErrorBytes));
    if (status !== 200 || mediaType !== frameType) {
      answer.drop();
      throw foreign(this.#slot, `${status} ${mediaType}`.trim(), { kind: 'bedrock' });
    }
    const headers = withRequestId(answer.headers);
    return { status, headers, events: keys.inAnswer(answer.events(frameEvents())) };
  }

  /** Count of Bedrock, or an estimate for models and accounts that it does not count for. */
  async countTokens(given: UpstreamCall): Promise<TokenCount> {
    const { call } = withFittedSchemas(narrowedForMessages(given), this.#options);
    const { stream: _, ...request } = withoutLateSystem(withObjectInputs(call.request).request, call);
    const { passed } = sortBetas(call.headers['anthropic-beta'], this.#betas);
    const body = Buffer.from(JSON.stringify(countBody(request, call.headers, passed)));
    const answer = await this.#post(`${modelPath(baseModel(request.model))}/count-tokens`, call, body);
    const text = await answer.text(maxErrorBytes);
    const refused = answer.status >= 400 ? bedrockRefusal(answer, text) : undefined;
    if (refused && !isUncounted(refused)) throw refused;
    const { inputTokens } = refused ? {} : jsonFields(text);
    const isCount = typeof inputTokens === 'number' && inputTokens > 0;
    return { inputTokens: isCount ? inputTokens : estimateTokens(request), estimated: !isCount };
  }

  /** Counts the tokens of nothing, which is refused as such once the credential has been accepted. */
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

  /** The query of a caller has no meaning here. */
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
