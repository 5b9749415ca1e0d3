import { isForcedTool, type Tool } from '@gw2api/gateway/plugin';
import { fitSchema, type FittedSchema } from '@gw2api/gateway/plugin/upstream';
import type { Dropped } from '../losses/dropped.js';
import { schemaOf, type OutputFormat } from '../output-words.js';

/** Receiver of the schemas of one request. */
export interface SchemaReceiver {
  readonly dialect: 'openai' | 'grammar' | 'grammar-minimal';
  /** True if it takes strict on functions and on the answer's form. */
  readonly strictTools: boolean;
  readonly strictFormat: boolean;
  readonly isTranslated?: boolean | undefined;
  readonly dropped: Dropped;
}

/** Schema as OpenAI and similar servers take it. */
export interface SentSchema {
  readonly schema: FittedSchema['schema'];
  readonly isStrict: boolean;
}

/** Parameters of a function; strict if requested and the receiver can enforce it. */
export function sentParameters(tool: Tool, path: string, receiver: SchemaReceiver): SentSchema {
  const { input_schema: given = { type: 'object', properties: {} }, strict } = tool;
  const isOurs = isForcedTool(tool);
  const fitted = fitSchema(given, receiver.dialect);
  report(fitted, `${path}.input_schema`, receiver, isOurs);
  const isStrict = strict === true && receiver.strictTools && canBeStrict(fitted, 'tool');
  if (strict === true && !isStrict) receiver.dropped.add(`${path}.strict`, isOurs ? 'mend' : 'setting');
  return { schema: fitted.schema, isStrict };
}

/** Fields of `json_schema` in Chat, and of `text.format` in Responses. */
export function sentFormat(
  format: OutputFormat,
  receiver: SchemaReceiver,
): Readonly<Record<string, unknown>> {
  const { name, strict, description } = format;
  const path = 'output_config.format';
  const fitted = fitSchema(schemaOf({ ...format, description: null }) ?? {}, receiver.dialect, 'output');
  report(fitted, `${path}.schema`, receiver, false);
  // Messages has no formats that are not strict.
  const wantsStrict = receiver.isTranslated ? strict === true : strict !== false;
  const isStrict = wantsStrict && receiver.strictFormat && canBeStrict(fitted, 'output');
  if (wantsStrict && !isStrict) receiver.dropped.add(`${path}.strict`);
  return {
    name: formatName(name),
    ...(typeof description === 'string' && { description }),
    schema: fitted.schema,
    ...(isStrict ? { strict: true } : strict === false && { strict }),
  };
}

function canBeStrict({ schema }: FittedSchema, use: 'tool' | 'output'): boolean {
  return fitSchema(schema, 'openai-strict', use).isExpressible;
}

function report(fitted: FittedSchema, path: string, { dropped }: SchemaReceiver, isOurs: boolean): void {
  if (fitted.changes.length === 0) return;
  dropped.add(path, isOurs || fitted.keepsMeaning ? 'mend' : 'setting');
}

/** Name of a format within OpenAI's alphabet and length. */
function formatName(name: unknown): string {
  if (typeof name !== 'string' || name === '') return 'answer';
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
}
