/** Naming of the GenAI attributes: OpenTelemetry's conventions 1.36, or the latest ones. */
export type Conventions = '1.36' | 'latest';

/** Names by naming; null: that naming has none. */
type Names = Readonly<Record<Conventions, string | null>>;

function same(name: string): Names {
  return { '1.36': name, latest: name };
}

/** GenAI attributes in both namings. Input tokens include those read from a cache and written to one. */
const attributeNames = {
  operation: same('gen_ai.operation.name'),
  provider: { '1.36': 'gen_ai.system', latest: 'gen_ai.provider.name' },
  requestModel: same('gen_ai.request.model'),
  maxTokens: same('gen_ai.request.max_tokens'),
  temperature: same('gen_ai.request.temperature'),
  topP: same('gen_ai.request.top_p'),
  topK: same('gen_ai.request.top_k'),
  stopSequences: same('gen_ai.request.stop_sequences'),
  stream: { '1.36': null, latest: 'gen_ai.request.stream' },
  responseModel: same('gen_ai.response.model'),
  timeToFirstChunk: { '1.36': null, latest: 'gen_ai.response.time_to_first_chunk' },
  inputTokens: same('gen_ai.usage.input_tokens'),
  outputTokens: same('gen_ai.usage.output_tokens'),
  cacheReadTokens: same('gen_ai.usage.cache_read.input_tokens'),
  cacheWriteTokens: {
    '1.36': 'gen_ai.usage.cache_creation.input_tokens',
    latest: 'gen_ai.usage.cache_write.input_tokens',
  },
  conversation: same('gen_ai.conversation.id'),
} as const satisfies Readonly<Record<string, Names>>;

type Meaning = keyof typeof attributeNames;

/** Names of the GenAI attributes in one naming, by their meaning. */
export type GenAiNames = Readonly<Record<Meaning, string | null>>;

export const genAiNames: Readonly<Record<Conventions, GenAiNames>> = {
  '1.36': namesIn('1.36'),
  latest: namesIn('latest'),
};

function namesIn(conventions: Conventions): GenAiNames {
  const names = Object.entries(attributeNames).map(([meaning, name]) => [meaning, name[conventions]]);
  return Object.fromEntries(names) as GenAiNames; // has the keys of `attributeNames`
}

/** Providers by kind of upstream, and by preset of `upstream: chat`, if they have their own name. */
const providerNames: Readonly<Record<string, Names>> = {
  messages: same('anthropic'),
  bedrock: same('aws.bedrock'),
  vertex: same('gcp.vertex_ai'),
  responses: same('openai'),
  'azure-openai': same('azure.ai.openai'),
  mistral: same('mistral_ai'),
  xai: { '1.36': 'xai', latest: 'x_ai' },
};

/** Provider of a slot: that of its preset, else of its kind of upstream, else the name of that. */
export function providerOf(kind: string, preset: string | undefined, conventions: Conventions): string {
  const name = preset ?? kind;
  return providerNames[name]?.[conventions] ?? name;
}
