import type { MessagesRequest } from '@gw2api/gateway/plugin';
import { sentFormat } from '../../shared/openai-schemas.js';
import { schemaOf, withInstruction } from '../../shared/output-words.js';
import type { Conversion } from './content.js';

export interface Output {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Request that asks for the form in words, where the server cannot be held to it. */
  readonly request: MessagesRequest;
}

/** `response_format` of structured output. Without support for schemas, the system text asks for one. */
export function outputOf(request: MessagesRequest, conversion: Conversion): Output {
  const format = request.output_config?.format;
  if (!format) return { fields: {}, request };
  const { structuredOutput } = conversion.capabilities;
  const schema = schemaOf(format);
  const jsonMode = { response_format: { type: 'json_object' } };
  if (!schema && structuredOutput !== 'none') return { fields: jsonMode, request };
  if (structuredOutput === 'json_schema') {
    const json_schema = sentFormat(format, conversion);
    return { fields: { response_format: { type: 'json_schema', json_schema } }, request };
  }
  conversion.dropped.add('output_config.format', schema ? 'setting' : 'mend');
  const fields = structuredOutput === 'json_object' ? jsonMode : {};
  return { fields, request: withInstruction(request, schema) };
}
