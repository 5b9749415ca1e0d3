import {
  isForcedTool,
  withFields,
  type Loss,
  type MessagesRequest,
  type OutputConfig,
  type SlotCall,
  type Tool,
} from '@gw2api/gateway/plugin';
import { withinStrictLimits } from '@gw2api/gateway/plugin/upstream';
import { planFormat, planOwnTool, planTool, type FormatPlan, type ToolPlan } from './anthropic-plans.js';
import { withInstruction } from '../output-words.js';
import { OwnKeys } from './own-keys.js';
import type { SchemaOptions } from './schema-options.js';

/** Call with schemas as a Messages service takes them. */
export interface FittedSchemas<Call> {
  readonly call: Call;
  readonly losses: readonly Loss[];
  /** Keys of arguments that have other names upstream. */
  readonly keys: OwnKeys;
}

/**
 * Fits the tools and the output format of a translated call to the Messages API. The request of a Messages caller stays
 * unchanged, except for the tool that `tool-choice` has made strict.
 */
export function withFittedSchemas<Call extends SlotCall>(
  call: Call,
  options: SchemaOptions,
): FittedSchemas<Call> {
  const { isTranslated = false, request } = call;
  const { tools, output_config: output } = request;
  const isFitted = isTranslated && Boolean(tools?.length || output?.format);
  const hasForced =
    Array.isArray(tools) && tools.some((tool: unknown) => isObject(tool) && isForcedTool(tool));
  if (!isFitted && !hasForced) return { call, losses: [], keys: noKeys };
  const { request: fitted, losses, keys } = fit(request, isTranslated, options);
  const changed: Partial<SlotCall> = { request: fitted };
  // `request` has the same type in each kind of call.
  return { call: fitted === request ? call : withFields(call, changed as Partial<Call>), losses, keys };
}

const noKeys = new OwnKeys();

interface FittedRequest {
  readonly request: MessagesRequest;
  readonly losses: readonly Loss[];
  readonly keys: OwnKeys;
}

function fit(given: MessagesRequest, isTranslated: boolean, options: SchemaOptions): FittedRequest {
  const { tools = [], output_config: output } = given;
  const plans = tools.map((tool: Tool | null, at) => {
    if (!isObject(tool)) return undefined; // a Messages request is checked by its upstream alone
    return isTranslated
      ? planTool(tool, `tools[${at}]`, options)
      : planOwnTool(tool, `tools[${at}]`, options);
  });
  const format = isTranslated && output?.format ? planFormat(output.format, options) : undefined;
  const kept = withinStrictLimits([...plans, format].flatMap((plan) => plan?.strict ?? []));
  const isHeld = ({ strict }: Pick<ToolPlan, 'strict'>) => strict !== undefined && kept.has(strict);
  const sent = plans.map((plan, at): SentTool => {
    if (plan && (isTranslated || plan.isOurs)) return sentTool(plan, isHeld(plan));
    return { tool: tools[at], losses: [] };
  });
  const losses = sent.flatMap((each) => each.losses);
  const keys = new OwnKeys();
  for (const { tool, fitted } of sent) if (tool && fitted) keys.add(tool.name, fitted.keys);
  const request = keys.inHistory(withTools(given, sent));
  if (!format) return { request, losses, keys };
  const withForm = withFormat(request, format, isHeld(format));
  return { request: withForm.request, losses: [...losses, ...withForm.losses], keys };
}

function withTools(given: MessagesRequest, sent: readonly SentTool[]): MessagesRequest {
  const tools = sent.map(({ tool }) => tool);
  if (tools.every((tool, at) => tool === given.tools?.[at])) return given;
  return { ...given, tools: tools as readonly Tool[] }; // those of the request, or made of them
}

interface SentTool {
  readonly tool: Tool | undefined;
  readonly fitted?: ToolPlan['base'];
  readonly losses: readonly Loss[];
}

function sentTool({ tool, path, base, strict, wantsStrict, isOurs }: ToolPlan, isStrict: boolean): SentTool {
  const fitted = isStrict ? strict?.fitted : base;
  const losses: Loss[] = [];
  if (wantsStrict && !isStrict) losses.push({ path: `${path}.strict`, kind: isOurs ? 'mend' : 'setting' });
  if (fitted && fitted.changes.length > 0)
    losses.push({ path: `${path}.input_schema`, kind: isOurs || fitted.keepsMeaning ? 'mend' : 'setting' });
  const schema = fitted?.schema ?? tool.input_schema;
  if (schema === tool.input_schema && (isStrict ? tool.strict === true : tool.strict === undefined))
    return { tool, ...(fitted && { fitted }), losses };
  const { strict: _, ...rest } = tool;
  const sent: Tool = {
    ...rest,
    ...(schema && { input_schema: schema }),
    ...(isStrict && { strict: true }),
  };
  return { tool: sent, ...(fitted && { fitted }), losses };
}

function withFormat(
  request: MessagesRequest,
  { schema, strict }: FormatPlan,
  isHeld: boolean,
): { readonly request: MessagesRequest; readonly losses: readonly Loss[] } {
  const path = 'output_config.format';
  if (!strict || !isHeld) {
    const kind = schema ? 'setting' : 'mend';
    return { request: withInstruction(withOutput(request, undefined), schema), losses: [{ path, kind }] };
  }
  const { schema: sent, changes, keepsMeaning } = strict.fitted;
  const kind = keepsMeaning ? 'mend' : 'setting';
  const isNamed = typeof request.output_config?.format?.name === 'string';
  return {
    request: withOutput(request, { type: 'json_schema', schema: sent }),
    losses: [
      ...(changes.length > 0 ? [{ path: `${path}.schema`, kind } as const] : []),
      ...(isNamed ? [{ path: `${path}.name`, kind: 'mend' } as const] : []),
    ],
  };
}

function withOutput(request: MessagesRequest, format: OutputConfig['format']): MessagesRequest {
  const { output_config: given, ...rest } = request;
  const { format: _, ...others } = given ?? {};
  const output_config = { ...others, ...(format && { format }) };
  return Object.keys(output_config).length > 0 ? { ...rest, output_config } : rest;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
