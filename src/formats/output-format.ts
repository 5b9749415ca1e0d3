import { closeSchema, type OutputConfig, type TextBlock } from '../plugin/index.js';
import type { Dropped } from './dropped.js';

/** The form that the caller wants the answer in; a schema is absent where any JSON object will do. */
export interface OutputWish {
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly description?: string | null | undefined;
  /** Where the schema stands in the caller's body. */
  readonly path: string;
}

/** A schema becomes `output_config.format`; plain JSON mode, which the upstream lacks, an instruction. */
export function settleOutput(
  wish: OutputWish | undefined,
  dropped: Dropped,
): { readonly format?: NonNullable<OutputConfig['format']>; readonly instruction?: TextBlock } {
  if (!wish) return {};
  if (!wish.schema) return { instruction: { type: 'text', text: jsonInstruction } };
  const closed = closeSchema(wish.schema);
  if (closed !== wish.schema) dropped.add(`${wish.path}.additionalProperties`);
  const { description } = wish;
  const schema = description && !('description' in closed) ? { ...closed, description } : closed;
  return { format: { type: 'json_schema', schema } };
}

const jsonInstruction =
  'Answer with one valid JSON object and nothing else: no text before or after it, no code fence.';
