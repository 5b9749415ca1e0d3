import { blocks, cacheControl, marked, objectOnly, type } from './block-shape.js';
import {
  anything,
  flag,
  isObject,
  list,
  nullable,
  number,
  oneOf,
  open,
  record,
  tagged,
  text,
  textOr,
  whole,
  type Shape,
} from './shape.js';

const turnShape = record({ role: anything, content: textOr(blocks) }, { id: anything });
const systemTurnShape = record(
  { role: anything },
  { content: textOr(blocks), output_config: anything, clear_at: anything },
);

const message: Shape = (value, path) => {
  if (!isObject(value)) return `${path}: Input should be an object`;
  if (!('role' in value)) return `${path}.role: Field required`;
  const role = oneOf('user', 'assistant', 'system')(value['role'], `${path}.role`);
  return role ?? (value['role'] === 'system' ? systemTurnShape : turnShape)(value, path);
};

const clientTool = record(
  { name: text({ pattern: /^[a-zA-Z0-9_-]{1,128}$/ }), input_schema: open({ type: oneOf('object') }) },
  {
    ...marked,
    type: nullable(oneOf('custom')),
    description: text(),
    strict: flag,
    defer_loading: flag,
    eager_input_streaming: nullable(flag),
    input_examples: list(anything),
    allowed_callers: list(text()),
  },
);

/** Shape of a tool: one with a dated type is the service's own; the others are the caller's, and closed. */
const tool: Shape = (value, path) => {
  if (!isObject(value)) return `${path}: Input should be an object`;
  const kind = value['type'] ?? 'custom';
  if (kind === 'custom') return clientTool(value, `${path}.custom`);
  return typeof kind === 'string' && /^[a-z]\w*_20\d{6}$|^mcp_toolset$/.test(kind)
    ? undefined
    : `${path}: Input tag ${JSON.stringify(kind)} found using 'type' does not match any of the expected tags`;
};

const parallel = { disable_parallel_tool_use: flag };
const display = {
  display: nullable(oneOf('summarized', 'omitted', 'updates')),
  block_binding: anything,
};
const jsonSchemaFormat = nullable(record({ type: oneOf('json_schema'), schema: objectOnly }));

const fields = {
  model: text({ min: 1 }),
  messages: list(message),
};

const optionalFields = {
  system: textOr(
    list(tagged('type', { text: record({ type, text: text() }, { ...marked, citations: anything }) })),
  ),
  tools: list(tool),
  tool_choice: tagged('type', {
    auto: record({ type }, parallel),
    any: record({ type }, parallel),
    tool: record({ type, name: text() }, parallel),
    none: record({ type }),
  }),
  thinking: tagged('type', {
    enabled: record({ type, budget_tokens: whole({ min: 1024 }) }, display),
    adaptive: record({ type }, display),
    disabled: record({ type }),
    between_tools: record({ type }),
  }),
  output_config: record(
    {},
    {
      effort: nullable(oneOf('low', 'medium', 'high', 'xhigh', 'max')),
      format: jsonSchemaFormat,
      task_budget: anything,
    },
  ),
  output_format: jsonSchemaFormat,
  cache_control: cacheControl,
  billing_policy: anything,
  compaction: anything,
  context_management: anything,
  mcp_servers: list(open({ type: anything, name: text(), url: text() })),
  speed: nullable(oneOf('standard', 'fast')),
  thread: nullable(
    tagged('type', {
      create: record({ type }),
      continue: record({ type, previous_message_id: text() }),
    }),
  ),
  user_profile_id: text(),
  workspace_id: text(),
};

/** Fields that a token count does not accept. */
const generateFields = {
  stream: flag,
  temperature: number({ min: 0, max: 1 }),
  top_p: number({ min: 0, max: 1 }),
  top_k: whole({ min: 0 }),
  stop_sequences: list(text()),
  metadata: record({}, { user_id: nullable(text()) }),
  container: anything,
  diagnostics: anything,
  fallback_credit_token: anything,
  fallbacks: nullable(list(open({ model: text() }))),
  inference_geo: anything,
  service_tier: oneOf('auto', 'standard_only'),
};

export const generateShape: Shape = record(
  { ...fields, max_tokens: whole({ min: 1 }) },
  { ...optionalFields, ...generateFields },
);

export const countShape: Shape = record(fields, optionalFields);
