import { extraPaths, type ExtraPaths } from '../shared/losses/extra-fields.js';
import type { PresetName } from './presets.js';

/** Parameters of the first Chat Completions API, which nearly all servers take. */
const common = 'seed frequency_penalty presence_penalty';

/** Returned on the text of the answer, unless a stage changes it. */
const logprobs = 'logprobs top_logprobs';

/**
 * https://platform.openai.com/docs/api-reference/chat/create. `metadata` is taken beside `store` alone, and
 * `service_tier` chooses a price: both only by the slot's `extraFields`.
 */
const openai = `${common} logit_bias verbosity prediction ${logprobs}`;

/** Sampling of open models beside OpenAI's. */
const open = `${common} logit_bias min_p repetition_penalty`;

/**
 * https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html: extra parameters of Chat and of sampling;
 * vllm/entrypoints/openai/chat_completion/protocol.py. Older servers take the `guided_…` ones, newer ones ignore them.
 */
const vllm = `${open} ${logprobs} use_beam_search length_penalty stop_token_ids include_stop_str_in_output ignore_eos min_tokens
  skip_special_tokens spaces_between_special_tokens truncate_prompt_tokens truncation_side bad_words allowed_token_ids
  add_generation_prompt continue_final_message add_special_tokens documents chat_template_kwargs
  media_io_kwargs mm_processor_kwargs include_reasoning structured_outputs guided_json guided_regex guided_choice guided_grammar
  thinking_token_budget cache_salt`;

/** https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md: sampling of /completion is taken by Chat too. */
const llamaCpp = `${common} ${logprobs} logit_bias min_p repeat_penalty repeat_last_n typical_p top_n_sigma min_keep ignore_eos
  dynatemp_range dynatemp_exponent dry_multiplier dry_base dry_allowed_length dry_penalty_last_n
  dry_sequence_breakers xtc_probability xtc_threshold mirostat mirostat_tau mirostat_eta grammar samplers
  cache_prompt chat_template_kwargs reasoning_format reasoning_budget thinking_budget_tokens`;

/** Extras that each server takes, by their names; a preset without an entry has those that nearly all take. */
const fields: Readonly<Record<PresetName, string>> = {
  generic: common,
  openai: `${openai} prompt_cache_key prompt_cache_retention safety_identifier`,
  /**
   * Azure OpenAI, some of whose models refuse the cache fields:
   * https://learn.microsoft.com/azure/ai-foundry/openai/how-to/prompt-caching.
   */
  'azure-openai': openai,
  /** https://api-docs.deepseek.com/api/create-chat-completion. */
  deepseek: `frequency_penalty presence_penalty ${logprobs}`,
  /**
   * https://openrouter.ai/docs/api-reference/parameters; `provider`, `models`, `route` and `plugins` choose a route. The
   * key keeps a session with one provider: https://openrouter.ai/docs/guides/best-practices/prompt-caching.
   */
  openrouter: `${open} ${logprobs} top_a verbosity prediction metadata prompt_cache_key`,
  /**
   * https://console.groq.com/docs/openai: 400 for logit_bias and for messages[].name; `metadata` is not supported
   * (groq-python, completion_create_params).
   */
  groq: `${common} reasoning_format search_settings`,
  /** https://docs.mistral.ai/api: `random_seed`; https://docs.mistral.ai/studio-api/conversations/advanced/prompt-caching. */
  mistral:
    'seed:random_seed frequency_penalty presence_penalty prediction prompt_mode safe_prompt metadata prompt_cache_key',
  /** 400 for a seed (microsoft/genaiscript#926), and for penalties by its newer models. */
  google: '',
  ollama: `${common} ${logprobs}`,
  vllm,
  'llama-cpp': llamaCpp,
  /** https://lmstudio.ai/docs/app/api/endpoints/openai. */
  'lm-studio': `${common} logit_bias repeat_penalty`,
  /** https://docs.x.ai/docs/api-reference: logit_bias is not supported, and prompt_cache_key is one of Responses alone. */
  xai: `${common} ${logprobs}`,
  /** https://docs.together.ai/reference/chat-completions-1. */
  together: `${open} chat_template_kwargs context_length_exceeded_behavior`,
  /** https://docs.fireworks.ai/api-reference/post-chatcompletions. */
  fireworks: `${open} ${logprobs} typical_p mirostat_target mirostat_lr ignore_eos prediction prompt_truncate_len
    context_length_exceeded_behavior reasoning_history prompt_cache_key prompt_cache_isolation_key`,
};

/** Paths of the extras that a preset's server takes. */
export function extraPathsOf(preset: PresetName): ExtraPaths {
  return extraPaths(fields[preset]);
}
