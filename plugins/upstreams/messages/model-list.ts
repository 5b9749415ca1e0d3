import {
  defaultAnthropicVersion,
  foreign,
  jsonFields,
  refusal,
  type HttpClient,
  type ListedModel,
  type ModelProfile,
  type UpstreamQuery,
} from '@gw2api/gateway/plugin/upstream';

interface ModelListing extends UpstreamQuery {
  readonly slot: string;
  /** The beginning of all paths. */
  readonly prefix: string;
  readonly http: HttpClient;
}

/** The models of `GET /v1/models`, page by page, a bounded number of them. Throws as a call does. */
export async function listModels(listing: ModelListing): Promise<readonly ListedModel[]> {
  const models: ListedModel[] = [];
  let search = '?limit=1000';
  for (let page = 0; page < maxPages && models.length < maxModels; page += 1) {
    const { data, has_more, last_id } = await readPage(listing, search);
    models.push(...data.slice(0, maxModels - models.length).flatMap(modelIn));
    if (has_more !== true || typeof last_id !== 'string') break;
    search = `?limit=1000&after_id=${encodeURIComponent(last_id)}`;
  }
  return models;
}

const maxPages = 10;
const maxModels = 2000;
const maxPageBytes = 4 * 1024 * 1024;
const timeoutMs = 10_000;
const maxIdLength = 200;

type Fields = Readonly<Record<string, unknown>>;
type Page = Fields & { readonly data: readonly unknown[] };

async function readPage(
  { slot, prefix, http, authorize, signal }: ModelListing,
  search: string,
): Promise<Page> {
  const answer = await http.send(
    {
      path: `${prefix}/v1/models${search}`,
      headers: { 'anthropic-version': defaultAnthropicVersion },
    },
    { signal, authorize, headersTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs },
  );
  const text = await answer.text(maxPageBytes);
  if (answer.status >= 400) throw refusal(answer, text);
  const fields = jsonFields(text);
  const { data } = fields;
  if (Array.isArray(data)) return { ...fields, data };
  throw foreign(slot, `${answer.status} ${answer.mediaType}`.trim(), { kind: 'messages' });
}

/** The model that an entry describes; none if it has no name. */
function modelIn(entry: unknown): readonly ListedModel[] {
  const { id, max_tokens, max_input_tokens, capabilities } = fieldsOf(entry);
  if (typeof id !== 'string' || id === '' || id.length > maxIdLength) return [];
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
  const supportsThinking = supported(thinking);
  const kind =
    supportsThinking === false
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

/** Fields of an object, by name; none for other values. */
function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
