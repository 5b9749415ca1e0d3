import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';

/** Server's dialect of Chat Completions: the fields that it takes, and the form that it takes them in. */
export const capabilityFields = {
  systemRole: Type.Enum(['system', 'developer', 'user'], {
    description: 'Role of the system text; user: it is put at the start of the first user message.',
  }),
  systemAnywhere: Type.Boolean({
    description:
      'System messages may stand between other messages; otherwise late ones are added to the user message before, marked with [System].',
  }),
  textParts: Type.Boolean({
    description: 'Sends several texts of a user as a list of parts; otherwise as one string.',
  }),
  images: Type.Enum(['url', 'data', 'none'], {
    description: 'Images by URL and as data, as data alone, or not at all.',
  }),
  files: Type.Boolean({ description: 'Takes documents (PDF) as file parts.' }),
  promptCacheKey: Type.Boolean({
    description: 'Gets a prompt_cache_key for each session if the caller gives none.',
  }),
  cacheControl: Type.Boolean({
    description: 'Takes cache markers (cache_control) on texts, tools, and for the whole request.',
  }),
  maxTokensField: Type.Enum(['max_tokens', 'max_completion_tokens'], {
    description: 'Field of the limit on output tokens.',
  }),
  maxStops: Type.Integer({ minimum: 0, description: 'Max number of stop sequences.' }),
  topK: Type.Boolean({ description: 'Takes top_k.' }),
  user: Type.Boolean({
    description: 'Takes user: the name that the caller gives its user, hashed if longer than 64 characters.',
  }),
  names: Type.Boolean({
    description: 'Takes name on messages: which of several users, or agents, has spoken.',
  }),
  strictTools: Type.Boolean({ description: 'Takes strict on functions.' }),
  grammar: Type.Boolean({
    description:
      'Compiles schemas into a grammar: patterns, negations and bounds of 2,000 repetitions are left out.',
  }),
  toolChoice: Type.Enum(['allowed', 'named', 'words', 'none'], {
    description:
      "tool_choice with a list of allowed functions too, with a function's name too, as a word alone, or not at all.",
  }),
  parallelToolCalls: Type.Boolean({ description: 'Takes parallel_tool_calls.' }),
  toolCallIds: Type.Enum(['any', 'nine'], {
    description: 'Ids of tool calls: any up to 40 characters, or exactly nine letters and digits.',
  }),
  rolesAlternate: Type.Boolean({
    description:
      'Messages of the user and of the assistant must alternate; neighbours of one role are joined.',
  }),
  userAfterTool: Type.Boolean({
    description:
      'A user message may follow a tool message; otherwise a short assistant message is put between them, and late system text is added to the tool message.',
  }),
  reasoning: Type.Enum(['effort', 'object', 'thinking', 'none'], {
    description:
      'Control of thinking: reasoning_effort, an object reasoning, thinking with reasoning_effort, or none.',
  }),
  efforts: Type.Array(Type.String(), {
    description: 'Efforts that the server accepts; any other becomes the nearest lower one.',
  }),
  reasoningField: Type.Enum(
    ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking_parts', 'none'],
    {
      description:
        'Field of an assistant message in which thinking is sent back; thinking_parts: parts of its content.',
    },
  ),
  thinkTags: Type.Boolean({
    description: 'Leaves thinking at the start of the content, in <think> tags, from which it is extracted.',
  }),
  thoughtSignatures: Type.Boolean({
    description:
      "Requires Gemini's thought signatures on tool calls (extra_content); a placeholder is sent where none is known.",
  }),
  structuredOutput: Type.Enum(['json_schema', 'json_object', 'none'], {
    description: 'Structured output: by schema, any JSON object, or not at all.',
  }),
  prefill: Type.Enum(['plain', 'prefix', 'continue', 'none'], {
    description:
      'How a final assistant message is continued: as it is, with prefix: true, with continue_final_message: true beside the messages, or not at all.',
  }),
  finishReason: Type.Enum(['required', 'optional'], {
    description:
      'optional: a stream is complete at its [DONE], for a server that never sends a finish reason; otherwise an end without reason and usage is an error.',
  }),
  streamUsage: Type.Boolean({ description: 'Takes stream_options.include_usage.' }),
  contentBesideCalls: Type.Enum(['null', 'empty'], {
    description: 'Content of an assistant message of tool calls alone: null, or an empty text.',
  }),
};

const capabilities = Type.Object(capabilityFields);

/** Capabilities of a server: all that a preset names. */
export type ServerCapabilities = Readonly<Static<typeof capabilities>>;
