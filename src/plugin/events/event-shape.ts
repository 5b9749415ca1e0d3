import { Type, type TSchema } from 'typebox';
import { compileCheck } from '../../kit/schema/check.js';
import { isRecord } from '../../kit/schema/record.js';

/**
 * Validates an upstream's event: the path of the part with a wrong type, or undefined if its handlers can
 * rely on it. Unknown types of events, blocks and deltas are valid, and so are missing fields, except the
 * essential ones.
 */
export function invalidPath(event: Readonly<Record<string, unknown>>): string | undefined {
  if (isTextDelta(event)) return undefined;
  const type = String(event['type']);
  if (!Object.hasOwn(events, type)) return undefined;
  const check = (checks[type] ??= compileCheck(events[type] ?? {}));
  const [error] = check(event);
  return error?.path.join('.');
}

/** Fast path without a schema, for text deltas: most events of a stream. */
function isTextDelta({ type, index, delta }: Readonly<Record<string, unknown>>): boolean {
  return (
    type === 'content_block_delta' &&
    Number.isFinite(index) &&
    isRecord(delta) &&
    delta['type'] === 'text_delta' &&
    typeof delta['text'] === 'string'
  );
}

const Text = Type.String();
const Finite = Type.Number({ minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE });
const TextIfAny = IfAny(Text);
const Count = IfAny(Finite);
const Any = Type.Object({});

const Usage = IfAny(
  Type.Object({
    input_tokens: Count,
    output_tokens: Count,
    cache_creation_input_tokens: Count,
    cache_read_input_tokens: Count,
    cache_creation: IfAny(
      Type.Object({ ephemeral_5m_input_tokens: Count, ephemeral_1h_input_tokens: Count }),
    ),
    output_tokens_details: IfAny(Type.Object({ thinking_tokens: Count })),
  }),
);

const Block = Tagged({
  text: Type.Object({ text: TextIfAny, citations: IfAny(Type.Array(Any)) }),
  thinking: Type.Object({ thinking: TextIfAny, signature: TextIfAny }),
  redacted_thinking: Type.Object({ data: Text }),
  tool_use: Type.Object({ id: Text, name: Text }),
  server_tool_use: Type.Object({ id: Text, name: Text }),
  web_search_tool_result: Type.Object({ tool_use_id: Text }),
});

const Delta = Tagged({
  text_delta: Type.Object({ text: Text }),
  input_json_delta: Type.Object({ partial_json: Text }),
  thinking_delta: Type.Object({ thinking: Text }),
  signature_delta: Type.Object({ signature: Text }),
  citations_delta: Type.Object({ citation: Any }),
  compaction_delta: Type.Object({ content: TextIfAny }),
});

const events: Readonly<Record<string, TSchema>> = {
  message_start: Type.Object({
    message: Type.Object({ id: Text, content: Type.Array(Block), stop_reason: TextIfAny, usage: Usage }),
  }),
  content_block_start: Type.Object({ index: Finite, content_block: Block }),
  content_block_delta: Type.Object({ index: Finite, delta: Delta }),
  content_block_stop: Type.Object({ index: Finite }),
  message_delta: Type.Object({ delta: Type.Object({ stop_reason: TextIfAny }), usage: Usage }),
};

/** Compiled at the first event of their type. */
const checks: Record<string, ReturnType<typeof compileCheck>> = {};

/** A field that may be missing or null. */
function IfAny(schema: TSchema & { type?: string }) {
  return Type.Optional(Type.Unsafe({ ...schema, type: [schema.type, 'null'] }));
}

/** An object whose `type` selects its schema, if any. */
function Tagged(schemas: Readonly<Record<string, TSchema>>) {
  const choices = Object.entries(schemas).map(([tag, then]) => ({
    if: { required: ['type'], properties: { type: { const: tag } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then,
  }));
  return Type.Unsafe({ ...Type.Object({ type: Text }), allOf: choices });
}
