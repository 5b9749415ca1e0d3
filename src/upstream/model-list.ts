import {
  defaultAnthropicVersion,
  GatewayError,
  type ListedModel,
  type ModelProfile,
  type UpstreamQuery,
  type UpstreamSettings,
} from '../plugin/index.js';
import type { Backpressure } from './body.js';
import type { Egress } from './connections.js';
import { Exchange } from './exchange.js';
import { fieldsIn, foreign, refusal, type Answer } from './failure.js';
import { mediaType, requestHeaders } from './headers.js';
import { TextBody } from './text-body.js';

export interface ModelListing extends UpstreamQuery {
  readonly settings: UpstreamSettings;
  /** The beginning of all paths. */
  readonly prefix: string;
  /** Separate egress, so that the connections of calls are used for nothing else. */
  readonly egress: Egress;
}

/** The models of `GET /v1/models`, page by page, a bounded number of them. Throws as a call does. */
export async function listModels(listing: ModelListing): Promise<readonly ListedModel[]> {
  const models: ListedModel[] = [];
  let search = '?limit=1000';
  for (let page = 0; page < maxPages && models.length < maxModels; page += 1) {
    const { data, has_more, last_id } = await readPage(listing, search);
    if (Array.isArray(data)) models.push(...data.slice(0, maxModels - models.length).flatMap(modelIn));
    if (has_more !== true || typeof last_id !== 'string') break;
    search = `?limit=1000&after_id=${encodeURIComponent(last_id)}`;
  }
  return models;
}

const maxPages = 10;
const maxModels = 2000;
const maxPageBytes = 4 * 1024 * 1024;
const timeoutMs = 10_000;
const longestId = 200;

type Fields = Readonly<Record<string, unknown>>;

async function readPage(
  { settings, prefix, egress, credential, signal }: ModelListing,
  search: string,
): Promise<Fields> {
  const call = { 'anthropic-version': defaultAnthropicVersion };
  const exchange = new Exchange({
    slot: settings.id,
    method: 'GET',
    path: `${prefix}/v1/models${search}`,
    headers: requestHeaders({ call, slot: settings.headers, credential }),
    signal,
    connectTimeoutMs: settings.connectTimeoutMs,
    headersTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
    read: (_: Answer, flow: Backpressure) => new TextBody(flow, maxPageBytes),
  });
  const answered = await exchange.send(egress);
  const text = await answered.body.text;
  if (answered.status >= 400) throw refusal(answered, text);
  if (answered.body.error) throw asError(answered.body.error);
  const fields = fieldsIn(text);
  if (Array.isArray(fields['data'])) return fields;
  throw foreign(settings.id, `${answered.status} ${mediaType(answered.headers)}`.trim());
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new GatewayError('upstream_interrupted', String(error));
}

/** The model that an entry describes; none where it has no name. */
function modelIn(entry: unknown): readonly ListedModel[] {
  const { id, max_tokens, max_input_tokens, capabilities } = fieldsOf(entry);
  if (typeof id !== 'string' || id === '' || id.length > longestId) return [];
  const maxTokens = tokensIn(max_tokens);
  const contextWindow = tokensIn(max_input_tokens);
  return [
    {
      id,
      ...(maxTokens !== undefined && { maxTokens }),
      ...(contextWindow !== undefined && { contextWindow }),
      ...capabilitiesIn(fieldsOf(capabilities)),
    },
  ];
}

function capabilitiesIn({ thinking, effort }: Fields): ModelProfile {
  const { adaptive, enabled, disabled } = fieldsOf(fieldsOf(thinking)['types']);
  const isThinking = supported(thinking);
  const kind =
    isThinking === false
      ? 'none'
      : supported(adaptive)
        ? 'adaptive'
        : supported(enabled)
          ? 'budget'
          : undefined;
  const canStopThinking = supported(disabled);
  const efforts = effortsIn(effort);
  return {
    ...(kind && { thinking: kind }),
    ...(canStopThinking !== undefined && { canStopThinking }),
    ...(efforts && { efforts }),
  };
}

function effortsIn(effort: unknown): readonly string[] | undefined {
  if (supported(effort) === false) return [];
  const levels = Object.entries(fieldsOf(effort))
    .filter(([, level]) => supported(level))
    .map(([name]) => name);
  return levels.length > 0 ? levels : undefined;
}

function supported(capability: unknown): boolean | undefined {
  const said = fieldsOf(capability)['supported'];
  return typeof said === 'boolean' ? said : undefined;
}

function tokensIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** Any object may be read by name; nothing else has fields. */
function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
