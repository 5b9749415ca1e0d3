import { isForcedTool, type Tool } from '@gw2api/gateway/plugin';
import { fitSchema, type FittedSchema } from '@gw2api/gateway/plugin/upstream';
import { schemaOf, type OutputFormat } from '../output-words.js';
import type { SchemaOptions } from './schema-options.js';

type Schema = FittedSchema['schema'];

/** Schema that the model must follow, as `withinStrictLimits` takes it. */
export interface StrictPlan {
  readonly kind: 'tool' | 'format' | 'forced';
  readonly schema: Schema;
  readonly fitted: FittedSchema;
}

/** Ways to send a tool. */
export interface ToolPlan {
  readonly tool: Tool;
  readonly path: string;
  /** Without strict; undefined: unchanged. */
  readonly base?: FittedSchema | undefined;
  /** Undefined: not to be strict, or not expressible so. */
  readonly strict?: StrictPlan | undefined;
  readonly wantsStrict: boolean;
  /** True if the gateway itself has requested strict. */
  readonly isOurs: boolean;
}

/** Plan for a tool of a translated request. */
export function planTool(tool: Tool, path: string, options: SchemaOptions): ToolPlan {
  const { strictTools, forcedStrict = true } = options;
  const isOurs = isForcedTool(tool);
  const wantsStrict = tool.strict === true;
  const plan = { tool, path, wantsStrict, isOurs };
  const { input_schema: schema } = tool;
  if (!isClientTool(tool) || !schema) return plan;
  const base = fitSchema(schema, 'anthropic');
  if (isOurs) return forcedStrict ? { ...plan, base, strict: closed(schema, 'forced') } : { ...plan, base };
  const strict = wantsStrict && strictTools ? closed(schema, 'tool') : undefined;
  return { ...plan, base, strict: strict?.fitted.isExpressible ? strict : undefined };
}

/**
 * Plan for a tool of a Messages caller, who knows the limits of strict tools: the gateway's wish gives way to
 * the caller's.
 */
export function planOwnTool(tool: Tool, path: string, { forcedStrict = true }: SchemaOptions): ToolPlan {
  const isOurs = isForcedTool(tool);
  const plan = { tool, path, wantsStrict: tool.strict === true, isOurs };
  const { input_schema: schema } = tool;
  if (!isClientTool(tool) || typeof schema !== 'object' || schema === null) return plan;
  if (isOurs) return forcedStrict ? { ...plan, strict: closed(schema, 'tool') } : plan;
  const fitted = { schema, changes: [], keepsMeaning: true, isExpressible: true, keys: new Map() };
  return plan.wantsStrict ? { ...plan, strict: { kind: 'forced', schema, fitted } } : plan;
}

/** Closes a tool that has to be strict, even if that is narrower than requested. */
function closed(schema: Schema, kind: 'tool' | 'forced'): StrictPlan {
  const fitted = fitSchema(schema, 'anthropic-strict');
  return { kind, schema: fitted.schema, fitted };
}

/** Form of the answer: as the service enforces it, and as text. */
export interface FormatPlan {
  /** Undefined: any object. */
  readonly schema: Schema | undefined;
  /** Undefined: as text alone. */
  readonly strict?: StrictPlan | undefined;
}

export function planFormat(format: OutputFormat, { structuredOutput }: SchemaOptions): FormatPlan {
  const schema = schemaOf(format);
  if (!schema || !structuredOutput) return { schema };
  const fitted = fitSchema(schema, 'anthropic-strict', 'output');
  return fitted.isExpressible
    ? { schema, strict: { kind: 'format', schema: fitted.schema, fitted } }
    : { schema };
}

function isClientTool({ type }: Tool): boolean {
  return type === undefined || type === null || type === 'custom';
}
