import type { MessagesRequest, TextBlock } from 'gw2api/plugin';
import { strictSchema } from 'gw2api/plugin/format';
import type { UnsupportedFields } from './unsupported-fields.js';

/** The form that the caller wants the answer in; a schema is absent where any JSON object will do. */
export interface OutputParams {
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly description?: string | null | undefined;
  /** Place in the caller's body of what holds the schema: `response_format.json_schema`, `text.format`. */
  readonly path: string;
}

interface Settled {
  readonly format?: NonNullable<NonNullable<MessagesRequest['output_config']>['format']>;
  readonly instruction?: TextBlock;
}

/** Maps a schema to `output_config.format`; a form the upstream cannot enforce becomes an instruction. */
export function resolveOutput(params: OutputParams | undefined, dropped: UnsupportedFields): Settled {
  if (!params) return {};
  if (!params.schema) return instruction(jsonInstruction);
  const { description, path } = params;
  const wanted =
    description && !('description' in params.schema) ? { ...params.schema, description } : params.schema;
  const { schema, changed, isExpressible } = strictSchema(wanted);
  if (!isExpressible) {
    dropped.add(`${path}.strict`);
    return instruction(`${jsonInstruction} It conforms to this JSON Schema:\n${JSON.stringify(wanted)}`);
  }
  for (const keyword of changed) dropped.add(`${path}.schema.${keyword}`);
  return { format: { type: 'json_schema', schema } };
}

function instruction(text: string): Settled {
  return { instruction: { type: 'text', text } };
}

const jsonInstruction =
  'Answer with one valid JSON object and nothing else: no text before or after it, no code fence.';
