import type { MessagesRequest, TextBlock } from 'gw2api/plugin';
import type { Conversion } from './content.js';

export interface Output {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Instruction in place of a schema that the server cannot enforce. */
  readonly instruction?: TextBlock;
}

/** `response_format` of structured output. Without support for schemas, the system text asks for one. */
export function outputOf(
  { output_config }: MessagesRequest,
  { capabilities: { structuredOutput }, dropped }: Conversion,
): Output {
  const format = output_config?.format;
  if (!format) return { fields: {} };
  if (structuredOutput === 'json_schema') {
    const json_schema = { name: 'answer', schema: format.schema, strict: true };
    return { fields: { response_format: { type: 'json_schema', json_schema } } };
  }
  dropped.add('output_config.format');
  const text = `Answer with one valid JSON object and nothing else. It conforms to this JSON Schema:\n${JSON.stringify(format.schema)}`;
  const isJson = structuredOutput === 'json_object';
  return {
    fields: isJson ? { response_format: { type: 'json_object' } } : {},
    instruction: { type: 'text', text },
  };
}
