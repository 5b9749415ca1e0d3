import type { TSchema } from 'typebox';
import { GatewayError, Type, type MessagesRequest } from '@gw2api/gateway/plugin';
import { compileCheck, formatPath } from '@gw2api/gateway/plugin/format';

/**
 * Request whose fields have the types that a translation reads, since only a Messages upstream validates its requests
 * itself; null fields are left out. Throws `invalid_request` with the first wrong field: `messages[2].content[0].text:
 * must be a string`.
 */
export function checkedShape(given: MessagesRequest): MessagesRequest {
  if (check()(given).length === 0) return withLastTurn(given);
  const request = withoutNulls(given);
  const [error] = check()(request);
  if (error) throw new GatewayError('invalid_request', `${formatPath(error.path)}: ${error.message}`);
  return withLastTurn(request);
}

/**
 * The request, unless its last turn is an empty one of the user, without which the answer before it would be continued.
 */
function withLastTurn(request: MessagesRequest): MessagesRequest {
  const last = request.messages.length - 1;
  const { role, content } = request.messages[last] ?? {};
  if (role !== 'user' || !Array.isArray(content) || content.length > 0) return request;
  throw new GatewayError('invalid_request', `messages[${last}].content: must have at least 1 item(s)`);
}

/** Validator, compiled on first use. */
const check = lazily(() => compileCheck(requestShape));

function lazily<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

const text = Type.String();

/** Object whose `type` is any text; the types that are named have fields of their own. */
function tagged(fields: Readonly<Record<string, Readonly<Record<string, TSchema>>>>): TSchema {
  const rules = Object.entries(fields).map(([type, properties]) => ({
    if: { properties: { type: { const: type } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: Type.Object(properties),
  }));
  return Type.Unsafe({ type: 'object', required: ['type'], properties: { type: text }, allOf: rules });
}

const bytes = {
  base64: { media_type: text, data: text },
  text: { data: text },
  url: { url: text },
  file: { file_id: text },
};

const marker = { cache_control: Type.Optional(Type.Object({ type: text })) };

const simpleParts = {
  text: { text, ...marker },
  image: { source: tagged(bytes), ...marker },
};

const content = Type.Union([text, Type.Array(tagged(simpleParts))]);

const citations = Type.Optional(Type.Object({ enabled: Type.Optional(Type.Boolean()) }));

const parts = {
  ...simpleParts,
  document: {
    source: tagged({ ...bytes, content: { content } }),
    title: Type.Optional(text),
    context: Type.Optional(text),
    citations,
    ...marker,
  },
  search_result: {
    source: text,
    title: Type.Optional(text),
    content: Type.Array(Type.Object({ type: text, text })),
    citations,
    ...marker,
  },
};

const call = { id: text, name: Type.String({ minLength: 1 }) };

const block = tagged({
  ...parts,
  thinking: { thinking: text, signature: Type.Optional(text) },
  redacted_thinking: { data: text },
  tool_use: { ...call, input: Type.Optional(Type.Record(text, Type.Unknown())), ...marker },
  server_tool_use: call,
  tool_result: {
    tool_use_id: text,
    content: Type.Optional(Type.Union([text, Type.Array(tagged(parts))])),
    is_error: Type.Optional(Type.Boolean()),
    ...marker,
  },
});

const message = Type.Object({
  role: Type.Enum(['user', 'assistant', 'system']),
  content: Type.Union([text, Type.Array(block)]),
});

const tool = Type.Object({
  name: Type.String({ minLength: 1 }),
  type: Type.Optional(text),
  description: Type.Optional(text),
  input_schema: Type.Optional(Type.Record(text, Type.Unknown())),
  strict: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  ...marker,
});

const requestShape = Type.Object({
  model: text,
  ...marker,
  messages: Type.Array(message),
  system: Type.Optional(Type.Union([text, Type.Array(tagged({ text: parts.text }))])),
  tools: Type.Optional(Type.Array(tool)),
  tool_choice: Type.Optional(tagged({ tool: { name: text } })),
  max_tokens: Type.Optional(Type.Number()),
  temperature: Type.Optional(Type.Number()),
  top_p: Type.Optional(Type.Number()),
  top_k: Type.Optional(Type.Number()),
  stop_sequences: Type.Optional(Type.Array(text)),
  metadata: Type.Optional(Type.Object({ user_id: Type.Optional(text) })),
  thinking: Type.Optional(tagged({ enabled: { budget_tokens: Type.Number() } })),
  output_config: Type.Optional(
    Type.Object({
      effort: Type.Optional(text),
      format: Type.Optional(tagged({ json_schema: { schema: Type.Record(text, Type.Unknown()) } })),
    }),
  ),
});

/** Fields whose values are the caller's own data, in which null is meaningful. */
const opaque: ReadonlySet<string> = new Set(['input', 'input_schema', 'input_examples', 'schema']);

/** Field in which null is a value: a tool of another format leaves strict to the server. */
const nullable = 'strict';

/**
 * Part of a Messages request without the fields that are null, which means "not set". The part itself if there is
 * none; its depth is that of a body that was parsed.
 */
export function withoutNulls<Value>(value: Value): Value {
  if (Array.isArray(value)) return unlessEqual(value, value.map(withoutNulls));
  return isObject(value) ? (fieldsWithoutNulls(value) as Value) : value; // fewer optional fields, the same type
}

function fieldsWithoutNulls(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let kept: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(fields)) {
    if (name === nullable) continue;
    const given = opaque.has(name) ? (value ?? undefined) : withoutNulls(value ?? undefined);
    if (given === value) continue;
    kept ??= { ...fields };
    if (given === undefined) delete kept[name];
    else kept[name] = given;
  }
  return kept ?? fields;
}

function unlessEqual<Value extends readonly unknown[]>(before: Value, after: readonly unknown[]): Value {
  return after.every((item, at) => item === before[at]) ? before : (after as unknown as Value); // mapped one by one
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
