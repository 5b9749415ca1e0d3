import type { Config } from '../../config/config.js';
import { DryGateway } from '../dry-run/dry-gateway.js';
import type { OpenGateway } from '../../gateway/gateway.js';
import type { DryOutcome } from '../dry-run/outcome.js';
import type { DrySettings } from '../dry-run/settings.js';
import { estimateTokens, type Additions, type Caller } from '../../plugin/index.js';
import { defaultPipeline, type LedgerTokens } from '../../plugin/core.js';
import type { ObservedChoice } from '../../engine/slots/selection/observed-choice.js';
import type {
  ExplainRequest,
  ExplainedAnswer,
  ExplainedOutgoing,
  ExplainedTokens,
  Explanation,
  PipelineReason,
} from './explanation.js';
import { callerSecrets } from '../../engine/masking/caller-secrets.js';
import { mapTexts, maskedHeaders, withoutSecrets } from '../dry-run/secret-texts.js';
import { PipelineRecorder } from './recording/pipeline-recorder.js';
import { isBase64, shown, shownText } from '../dry-run/shown.js';

/** Max choices that are kept; a request that waits makes one whenever a state changes. */
const maxChoices = 200;

/** Max calls whose bodies are shown, since a stage may call the model any number of times with the whole request. */
const maxBodies = 20;
const bodyLeftOut = `omitted: only the bodies of the first ${maxBodies} calls are shown`;

/**
 * Explains one request: sends it through the pipeline of a config in a dry run. Throws ConfigError, and an
 * Error for an unknown slot or scenario.
 */
export async function explain(
  config: Config,
  request: ExplainRequest,
  openGateway: OpenGateway,
  settings: DrySettings = {},
): Promise<Explanation> {
  const explainer = await Explainer.open(config, openGateway, settings);
  try {
    return await explainer.explain(request);
  } finally {
    await explainer.close();
  }
}

/** Dry gateway that explains the requests sent to it, one after another. */
export class Explainer {
  readonly #dry: DryGateway;
  readonly #config: Config;
  readonly #recorder: PipelineRecorder;
  readonly #choices: ObservedChoice[];

  private constructor(
    dry: DryGateway,
    config: Config,
    recorder: PipelineRecorder,
    choices: ObservedChoice[],
  ) {
    this.#dry = dry;
    this.#config = config;
    this.#recorder = recorder;
    this.#choices = choices;
  }

  /** Throws as `explain` does. */
  static async open(
    config: Config,
    openGateway: OpenGateway,
    settings: DrySettings = {},
  ): Promise<Explainer> {
    const recorder = new PipelineRecorder();
    const choices: ObservedChoice[] = [];
    const onChoice = (choice: ObservedChoice): void => {
      if (choices.length < maxChoices) choices.push(choice);
    };
    const dry = await DryGateway.open(config, openGateway, { ...settings, watch: recorder, onChoice });
    return new Explainer(dry, config, recorder, choices);
  }

  async explain(request: ExplainRequest): Promise<Explanation> {
    this.#choices.length = 0;
    const [outcome] = await this.#dry.send([request]);
    if (!outcome) throw new Error('The dry run has no outcome.');
    const { stages, state } = this.#recorder.take(outcome.headers['x-request-id'] ?? '');
    const explanation: Explanation = {
      request: requestOf(request, { caller: state.caller?.name, format: state.format, model: outcome.model }),
      pipeline: { name: outcome.pipeline, why: reasonOf(outcome.pipeline, state.caller) },
      stages,
      choices: [...this.#choices],
      calls: outcome.calls,
      outgoing: outcome.outgoing.map((call, at) => this.#outgoing(call, at < maxBodies)),
      answer: answerOf(outcome),
      dropped: outcome.dropped,
      tokens: tokensOf(outcome, state.additions),
      log: outcome.log.map(({ level, message }) => `${level}: ${message}`),
    };
    return withoutSecrets(explanation, [...this.#dry.secrets, ...callerSecrets(request.headers)]);
  }

  close(): Promise<void> {
    return this.#dry.close();
  }

  #outgoing(call: DryOutcome['outgoing'][number], hasBody: boolean): ExplainedOutgoing {
    const { slot, method, path, body } = call;
    const config = this.#config.slots.find(({ id }) => id === slot);
    const headers = maskedHeaders(call, Object.keys(config?.headers ?? {}));
    if (slot === undefined) return { method, path, headers }; // to a token endpoint: its body is made of credentials
    return { slot, method, path, headers, body: hasBody ? withoutBytes(body) : bodyLeftOut };
  }
}

function reasonOf(pipeline: string, caller: Caller | undefined): PipelineReason {
  if (caller?.pipeline === undefined) return pipeline === defaultPipeline ? 'default' : 'when';
  return caller.pipeline === caller.team?.pipeline ? 'team' : 'key';
}

function requestOf(
  { path, body, key, method = body === undefined ? 'GET' : 'POST' }: ExplainRequest,
  { caller = key, format, model }: Readonly<Record<'caller' | 'format' | 'model', string | null | undefined>>,
): Explanation['request'] {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    method,
    path,
    key: caller ?? null,
    bytes: body === undefined ? 0 : Buffer.byteLength(text),
    ...(typeof format === 'string' && { format }),
    ...(typeof model === 'string' && { model }),
  };
}

/** Copy in which base64 is replaced by its length. */
function withoutBytes(value: unknown): unknown {
  return mapTexts(value, (text) => (isBase64(text) ? shownText(text) : text));
}

/** Max depth of an answer that is shown. */
const answerDepth = 8;

function answerOf({ status, headers, events, complete, error, answer }: DryOutcome): ExplainedAnswer {
  const types: Record<string, number> = {};
  for (const { event, data } of events) {
    const { type, object } = Object(data) as { readonly type?: unknown; readonly object?: unknown }; // as formats have them
    const name = [event, type, object, data].find((each) => typeof each === 'string') ?? 'data';
    types[name] = (types[name] ?? 0) + 1;
  }
  return {
    status,
    headers,
    events: types,
    complete,
    ...(error && { error }),
    answer: shown(answer, answerDepth),
  };
}

function tokensOf({ usage }: DryOutcome, additions: Additions | undefined): ExplainedTokens {
  const { billed, shown } = usage;
  return {
    billed,
    shown,
    added: inputOf(billed) - inputOf(shown),
    additions: { system: estimateOf(additions?.system), tools: estimateOf(additions?.tools) },
  };
}

function inputOf({ input, cacheRead, cacheWrite5m, cacheWrite1h }: LedgerTokens): number {
  return input + cacheRead + cacheWrite5m + cacheWrite1h;
}

function estimateOf(parts: readonly object[] = []): number {
  return parts.length > 0 ? estimateTokens(parts) : 0;
}
