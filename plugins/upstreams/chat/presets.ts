import type { ServerCapabilities } from './server-capabilities.js';

/** Unknown server: the fields that all servers take, and none that some refuse. */
const generic: ServerCapabilities = {
  systemRole: 'system',
  systemAnywhere: false,
  textParts: true,
  images: 'url',
  files: false,
  promptCacheKey: false,
  cacheControl: false,
  maxTokensField: 'max_tokens',
  maxStops: 4,
  topK: false,
  user: false,
  names: false,
  strictTools: false,
  grammar: false,
  toolChoice: 'named',
  parallelToolCalls: true,
  toolCallIds: 'any',
  rolesAlternate: true,
  userAfterTool: true,
  reasoning: 'none',
  efforts: ['none', 'low', 'medium', 'high', 'max'],
  reasoningField: 'none',
  thinkTags: false,
  thoughtSignatures: false,
  structuredOutput: 'json_schema',
  prefill: 'none',
  finishReason: 'required',
  streamUsage: true,
  contentBesideCalls: 'null',
};

/** https://platform.openai.com/docs/api-reference/chat/create: `stop` up to 4, `max_tokens` deprecated. */
const openai: ServerCapabilities = {
  ...generic,
  systemRole: 'developer',
  systemAnywhere: true,
  files: true,
  promptCacheKey: true,
  maxTokensField: 'max_completion_tokens',
  user: true,
  names: true,
  strictTools: true,
  toolChoice: 'allowed',
  rolesAlternate: false,
  reasoning: 'effort',
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
};

/** Self-hosted open models: more sampling parameters. */
const local: ServerCapabilities = { ...generic, topK: true };

/** Servers by name. Facts are from the vendor's documentation, else from the issue that is named. */
export const presets = {
  generic,
  openai,
  /**
   * Roles as OpenAI; API versions differ in the rest: https://learn.microsoft.com/azure/ai-foundry/openai/reference.
   * Some of its models refuse prompt_cache_key (vectorize-io/hindsight#3518).
   */
  'azure-openai': { ...openai, systemRole: 'system', promptCacheKey: false, toolChoice: 'named' },
  /**
   * https://api-docs.deepseek.com/guides/thinking_mode: `thinking` with efforts `high` and `max`, and
   * `reasoning_content` on every assistant turn once tools are called (anomalyco/opencode#24722). JSON mode
   * without a schema, text alone, up to 16 stop sequences: https://api-docs.deepseek.com/api/create-chat-completion.
   */
  deepseek: {
    ...generic,
    textParts: false,
    images: 'none',
    maxStops: 16,
    names: true,
    parallelToolCalls: false,
    reasoning: 'thinking',
    reasoningField: 'reasoning_content',
    structuredOutput: 'json_object',
  },
  /**
   * https://openrouter.ai/docs/use-cases/reasoning-tokens; markers stand on texts and tools, and at the top level:
   * https://openrouter.ai/docs/guides/best-practices/prompt-caching.
   */
  openrouter: {
    ...generic,
    systemAnywhere: true,
    files: true,
    cacheControl: true,
    topK: true,
    user: true,
    names: true,
    strictTools: true,
    rolesAlternate: false,
    reasoning: 'object',
    efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    reasoningField: 'reasoning_details',
    prefill: 'plain',
  },
  /**
   * https://console.groq.com/docs/openai; thinking comes as `reasoning`: https://console.groq.com/docs/reasoning; a
   * last turn is continued: https://console.groq.com/docs/prefilling.
   */
  groq: {
    ...generic,
    maxTokensField: 'max_completion_tokens',
    user: true,
    reasoning: 'effort',
    efforts: ['none', 'low', 'medium', 'high'],
    prefill: 'plain',
  },
  /**
   * Unknown fields are a 422 (editor-code-assistant/eca#231), ids have nine characters (anomalyco/opencode#1680),
   * no user after a tool (BerriAI/litellm#6323); usage comes unasked. Thinking is a part of the content, and goes back
   * as one: https://docs.mistral.ai/capabilities/reasoning. A choice by name: mistralai/client-python,
   * chatcompletionstreamrequest.
   */
  mistral: {
    ...generic,
    toolCallIds: 'nine',
    userAfterTool: false,
    reasoningField: 'thinking_parts',
    prefill: 'prefix',
    streamUsage: false,
  },
  /**
   * https://ai.google.dev/gemini-api/docs/openai: one system message, images as data, efforts instead of budgets. Gemini 3
   * refuses a history whose calls lack their signatures: https://ai.google.dev/gemini-api/docs/thought-signatures.
   */
  google: {
    ...generic,
    images: 'data',
    parallelToolCalls: false,
    reasoning: 'effort',
    efforts: ['none', 'minimal', 'low', 'medium', 'high'],
    thoughtSignatures: true,
  },
  /**
   * https://docs.ollama.com/api/openai-compatibility; thinking goes back as `reasoning`: openai/openai.go; a last turn is
   * continued: ollama/ollama#6778.
   */
  ollama: {
    ...generic,
    images: 'data',
    toolChoice: 'none',
    parallelToolCalls: false,
    reasoning: 'effort',
    reasoningField: 'reasoning',
    prefill: 'plain',
  },
  /**
   * https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html: extra parameters; named function calls;
   * thinking goes back as `reasoning`: vllm/entrypoints/chat_utils.py.
   */
  vllm: {
    ...local,
    systemAnywhere: true,
    reasoning: 'effort',
    reasoningField: 'reasoning',
    prefill: 'continue',
  },
  /**
   * tools/server/README.md, common/chat.cpp: the choice is one of three words; the last assistant turn is continued.
   */
  'llama-cpp': {
    ...local,
    grammar: true,
    toolChoice: 'words',
    contentBesideCalls: 'empty',
    prefill: 'plain',
  },
  /** Choice by words alone: lmstudio-ai/lmstudio-bug-tracker#670; images as base64 alone. */
  'lm-studio': { ...local, grammar: true, images: 'data', toolChoice: 'words' },
  /** https://docs.x.ai/docs/guides/reasoning: `reasoning_effort` is refused by models that do not know it. */
  xai: { ...generic, systemAnywhere: true, user: true, names: true },
  /** https://docs.together.ai/reference/chat-completions-1. */
  together: { ...local, systemAnywhere: true, names: true },
  /** https://docs.fireworks.ai/api-reference/post-chatcompletions. */
  fireworks: { ...local, user: true, names: true, reasoning: 'effort' },
} as const satisfies Readonly<Record<string, ServerCapabilities>>;

export type PresetName = keyof typeof presets;

/** Names of the presets, the default one first. */
export const presetNames = Object.keys(presets) as PresetName[]; // these are its keys
