import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';
import { completionFields, nullable } from '../shared/body.js';
import { markerFields } from '../shared/cache-markers.js';

export const part = Type.Object({
  type: Type.String(),
  text: nullable(Type.String()),
  refusal: nullable(Type.String()),
  image_url: nullable(Type.String(), Type.Object({ url: Type.String(), detail: nullable(Type.String()) })),
  file: nullable(
    Type.Object({
      file_data: nullable(Type.String()),
      file_id: nullable(Type.String()),
      filename: nullable(Type.String()),
    }),
  ),
  ...markerFields,
});

const toolCall = Type.Object({
  id: nullable(Type.String()),
  type: nullable(Type.Enum(['function', 'custom'])),
  function: nullable(
    Type.Object({ name: Type.String({ minLength: 1 }), arguments: Type.Optional(Type.Unknown()) }),
  ),
  custom: nullable(Type.Object({ name: Type.String({ minLength: 1 }), input: nullable(Type.String()) })),
  /** Vendor's own data: the thought signature of Gemini. */
  extra_content: Type.Optional(Type.Unknown()),
});

const role = Type.Enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

export const message = Type.Object({
  role,
  content: nullable(Type.String(), Type.Array(part)),
  name: nullable(Type.String()),
  refusal: nullable(Type.String()),
  /** An audio answer, which cannot be replayed. */
  audio: Type.Optional(Type.Unknown()),
  /** Thinking as our own answers carry it, and as other servers do. */
  reasoning_details: nullable(Type.Array(Type.Object({ type: Type.String() }))),
  reasoning_content: Type.Optional(Type.Unknown()),
  reasoning: Type.Optional(Type.Unknown()),
  tool_calls: nullable(Type.Array(toolCall)),
  function_call: nullable(
    Type.Object({ name: Type.String({ minLength: 1 }), arguments: Type.Optional(Type.Unknown()) }),
  ),
  tool_call_id: nullable(Type.String()),
  cache_control: markerFields.cache_control,
});

const definition = Type.Object({
  name: Type.String({ minLength: 1 }),
  description: nullable(Type.String()),
  parameters: nullable(Type.Record(Type.String(), Type.Unknown())),
  strict: nullable(Type.Boolean()),
  output_schema: Type.Optional(Type.Unknown()),
  allowed_callers: Type.Optional(Type.Unknown()),
  cache_control: markerFields.cache_control,
});

const custom = Type.Object({
  name: Type.String({ minLength: 1 }),
  description: nullable(Type.String()),
  format: nullable(
    Type.Object({
      type: nullable(Type.String()),
      grammar: nullable(Type.Object({ syntax: Type.String(), definition: Type.String() })),
    }),
  ),
  cache_control: markerFields.cache_control,
});

const flatFormat = Type.Object({
  type: nullable(Type.String()),
  syntax: nullable(Type.String()),
  definition: nullable(Type.String()),
});

const tool = Type.Object({
  type: nullable(Type.String()),
  function: nullable(definition),
  custom: nullable(custom),
  /** A definition that is not nested, as other formats have it. */
  name: nullable(Type.String()),
  description: nullable(Type.String()),
  parameters: nullable(Type.Record(Type.String(), Type.Unknown())),
  input_schema: nullable(Type.Record(Type.String(), Type.Unknown())),
  strict: nullable(Type.Boolean()),
  format: nullable(flatFormat),
  output_schema: Type.Optional(Type.Unknown()),
  allowed_callers: Type.Optional(Type.Unknown()),
  cache_control: markerFields.cache_control,
});

const named = Type.Object({ name: Type.String() });

const toolChoice = Type.Object({
  type: Type.String(),
  function: nullable(named),
  custom: nullable(named),
  /** The tool's name in the choices of other formats. */
  name: nullable(Type.String()),
  disable_parallel_tool_use: nullable(Type.Boolean()),
  allowed_tools: nullable(
    Type.Object({
      mode: Type.Enum(['auto', 'required']),
      tools: Type.Array(
        Type.Object({
          type: nullable(Type.String()),
          function: nullable(named),
          custom: nullable(named),
          name: nullable(Type.String()),
        }),
      ),
    }),
  ),
});

const choiceWord = Type.Enum(['none', 'auto', 'required', 'any']);

const outputSchema = {
  schema: nullable(Type.Record(Type.String(), Type.Unknown())),
  name: nullable(Type.String()),
  strict: nullable(Type.Boolean()),
  description: nullable(Type.String()),
};

const responseFormat = Type.Object({
  type: Type.String(),
  json_schema: nullable(Type.Object(outputSchema)),
  ...outputSchema,
});

export const chatBody = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(message, { minItems: 1 }),
  tools: nullable(Type.Array(tool)),
  tool_choice: nullable(choiceWord, toolChoice),
  parallel_tool_calls: nullable(Type.Boolean()),
  functions: nullable(Type.Array(definition)),
  function_call: nullable(Type.Enum(['none', 'auto']), named),
  max_completion_tokens: nullable(Type.Integer({ minimum: 1 })),
  max_tokens: nullable(Type.Integer({ minimum: 1 })),
  n: nullable(Type.Integer({ minimum: 1, maximum: 128 })),
  /** Session name for the sticky key; not sent upstream. */
  prompt_cache_key: nullable(Type.String()),
  reasoning_effort: nullable(Type.String()),
  /** Marker of all of the conversation, as in OpenRouter. */
  cache_control: markerFields.cache_control,
  /** Other dialects' ways to ask for thinking. */
  reasoning: Type.Optional(Type.Unknown()),
  thinking: Type.Optional(Type.Unknown()),
  response_format: nullable(responseFormat),
  ...completionFields,
  web_search_options: nullable(Type.Record(Type.String(), Type.Unknown())),
});

/** Chat Completions body, with the fields that are read. */
export type ChatBody = Static<typeof chatBody>;
export type ChatMessage = ChatBody['messages'][number];
export type ChatPart = Static<typeof part>;
export type ChatToolCall = Static<typeof toolCall>;
export type ChatTool = Static<typeof tool>;
