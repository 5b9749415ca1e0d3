import type { Static } from 'typebox';
import { Type } from '@gw2api/gateway/plugin';
import { nullable } from '../shared/body.js';
import { markerFields } from '../shared/cache-markers.js';

const name = Type.String({ minLength: 1 });

/** Fields by which tool types differ, and those of function, custom, namespace and web_search tools. */
const tool = Type.Object({
  type: Type.String(),
  name: nullable(name),
  description: nullable(Type.String()),
  parameters: nullable(Type.Record(Type.String(), Type.Unknown())),
  strict: nullable(Type.Boolean()),
  defer_loading: nullable(Type.Boolean()),
  output_schema: Type.Optional(Type.Unknown()),
  allowed_callers: Type.Optional(Type.Unknown()),
  format: nullable(
    Type.Object({
      type: nullable(Type.String()),
      syntax: nullable(Type.String()),
      definition: nullable(Type.String()),
    }),
  ),
  /** Tools of a namespace. */
  tools: nullable(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
  cache_control: markerFields.cache_control,
});

const toolReference = Type.Object({
  type: Type.String(),
  name: nullable(Type.String()),
  namespace: nullable(Type.String()),
});

const toolChoice = Type.Object({
  ...toolReference.properties,
  mode: nullable(Type.Enum(['auto', 'required'])),
  tools: nullable(Type.Array(toolReference)),
});

const outputFormat = Type.Object({
  type: Type.String(),
  schema: nullable(Type.Record(Type.String(), Type.Unknown())),
  name: nullable(Type.String()),
  strict: nullable(Type.Boolean()),
  description: nullable(Type.String()),
});

export const responsesBody = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: nullable(Type.String(), Type.Array(Type.Record(Type.String(), Type.Unknown()))),
  instructions: nullable(Type.String()),
  previous_response_id: nullable(Type.String()),
  /** Storage of the answer for `previous_response_id`; default true. */
  store: nullable(Type.Boolean()),
  include: nullable(Type.Array(Type.String())),
  tools: nullable(Type.Array(tool)),
  tool_choice: nullable(Type.Enum(['none', 'auto', 'required', 'any']), toolChoice),
  parallel_tool_calls: nullable(Type.Boolean()),
  /** Calls of built-in tools, of which web search is the only one here. */
  max_tool_calls: nullable(Type.Integer({ minimum: 1 })),
  max_output_tokens: nullable(Type.Integer({ minimum: 1 })),
  reasoning: nullable(
    Type.Object({
      effort: nullable(Type.String()),
      summary: nullable(Type.String()),
      generate_summary: nullable(Type.String()),
    }),
  ),
  /** Thinking parameters of Messages. */
  thinking: Type.Optional(Type.Unknown()),
  text: nullable(Type.Object({ format: nullable(outputFormat), verbosity: nullable(Type.String()) })),
  /** Session name for the sticky key; not sent upstream. */
  prompt_cache_key: nullable(Type.String()),
  stream: nullable(Type.Boolean()),
  /** False: no model call; the input is kept for the request that continues this one. */
  generate: nullable(Type.Boolean()),
  /** `include_usage` is Chat's, and usage is always there. */
  stream_options: nullable(
    Type.Object({ include_obfuscation: nullable(Type.Boolean()), include_usage: nullable(Type.Boolean()) }),
  ),
  temperature: nullable(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: nullable(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: nullable(Type.Integer({ minimum: 0 })),
  user: nullable(Type.String()),
});

/** Responses body, with the fields that are read. */
export type ResponsesBody = Static<typeof responsesBody>;
export type ResponsesTool = Static<typeof tool>;
export const responsesTool = tool;

/** An item of `input`, checked by its own type when it is read. */
export type InputItem = Readonly<Record<string, unknown>>;
