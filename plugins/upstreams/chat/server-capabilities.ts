import type { Static } from 'typebox';
import { Type } from 'gw2api/plugin';

/** Server's dialect of Chat Completions: the fields that it takes, and the form that it takes them in. */
export const capabilityFields = {
  /** Role of the system text. */
  systemRole: Type.Enum(['system', 'developer']),
  /** System messages may stand between other messages; otherwise all of them are moved to the first one. */
  systemAnywhere: Type.Boolean(),
  /** Several texts of a user go as a list of parts; otherwise as one string. */
  textParts: Type.Boolean(),
  /** Images by URL and as data, as data alone, or not at all. */
  images: Type.Enum(['url', 'data', 'none']),
  /** Documents (PDF) as `file` parts. */
  files: Type.Boolean(),
  /** Cache markers (`cache_control`) on content parts. */
  cacheControl: Type.Boolean(),
  /** Field of the limit on output tokens. */
  maxTokensField: Type.Enum(['max_tokens', 'max_completion_tokens']),
  /** Max number of stop sequences. */
  maxStops: Type.Integer({ minimum: 0 }),
  /** `top_k`. */
  topK: Type.Boolean(),
  /** `user`: the name that the caller gives its user, hashed if longer than 64 characters. */
  user: Type.Boolean(),
  /** `strict` on functions. */
  strictTools: Type.Boolean(),
  /** `tool_choice` with a function's name too, as a word alone, or not at all. */
  toolChoice: Type.Enum(['named', 'words', 'none']),
  /** `parallel_tool_calls`. */
  parallelToolCalls: Type.Boolean(),
  /** Ids of tool calls: any up to 40 characters, or exactly nine letters and digits. */
  toolCallIds: Type.Enum(['any', 'nine']),
  /** A user message may follow a tool message; otherwise a short assistant message is put between them. */
  userAfterTool: Type.Boolean(),
  /** Control of thinking: `reasoning_effort`, an object `reasoning`, `thinking` with `reasoning_effort`, or none. */
  reasoning: Type.Enum(['effort', 'object', 'thinking', 'none']),
  /** Efforts that the server takes; another one becomes the nearest below it. */
  efforts: Type.Array(Type.String()),
  /** Field of an assistant message in which thinking is sent back. */
  reasoningField: Type.Enum(['reasoning_content', 'reasoning', 'reasoning_details', 'none']),
  /** Structured output: by schema, any JSON object, or not at all. */
  structuredOutput: Type.Enum(['json_schema', 'json_object', 'none']),
  /** A last assistant message is continued: as it is, with `prefix: true`, or not at all. */
  prefill: Type.Enum(['plain', 'prefix', 'none']),
  /** `stream_options.include_usage`. */
  streamUsage: Type.Boolean(),
};

const capabilities = Type.Object(capabilityFields);

/** Capabilities of a server: all that a preset names. */
export type ServerCapabilities = Readonly<Static<typeof capabilities>>;
