import { withExtras, type MessagesRequest, type Tool, type ToolChoice } from '@gw2api/gateway/plugin';
import type { UnsupportedFields } from '../unread/unsupported-fields.js';

/** Tools and tool choice of a caller, under the names that the upstream knows. */
export interface ToolParams {
  readonly tools: readonly Tool[];
  readonly choice?: ToolChoice | undefined;
  /** `allowed_tools`: only these may be called. */
  readonly allowed?: readonly string[] | undefined;
  /** False: one call at a time. */
  readonly parallel?: boolean | null | undefined;
  /** Tools that the history has called. */
  readonly called: readonly string[];
}

type ToolFields = Pick<MessagesRequest, 'tools' | 'tool_choice'>;

/**
 * `tools` and `tool_choice` of the upstream request; a choice that cannot be kept is reported. If only some tools are
 * allowed, an extra names them.
 */
export function resolveTools(params: ToolParams, dropped: UnsupportedFields): ToolFields {
  const { tools, called, parallel, choice } = params;
  const allowed = allowedOf(params);
  const mayCall = tools.length > 0 && allowed?.length !== 0;
  if (!mayCall && isForced(choice)) dropped.add('tool_choice');
  if (tools.length === 0) return redeclare(called);
  if (!mayCall) return { tools, tool_choice: { type: 'none' } };
  const kept = parallel === false ? oneAtATime(choice) : choice;
  const fields: ToolFields = { tools, ...(kept && { tool_choice: kept }) };
  return allowed ? withExtras(fields, { 'tool_choice.allowed_tools': allowed }) : fields;
}

/** Names of the declared tools that are allowed; undefined if all are. */
function allowedOf({ tools, allowed }: ToolParams): readonly string[] | undefined {
  if (!allowed) return undefined;
  const names = new Set(allowed);
  const found = tools.flatMap(({ name }) => (names.has(name) ? [name] : []));
  return found.length < tools.length ? found : undefined;
}

/** True if the choice forces the model to call a tool. */
function isForced(choice: ToolChoice | undefined): boolean {
  return choice?.type === 'any' || choice?.type === 'tool';
}

/** Declares the called tools, as the upstream refuses a history with tool calls if no tool is declared. */
function redeclare(called: readonly string[]): ToolFields {
  if (called.length === 0) return {};
  const tools = called.map((name) => ({ name, input_schema: { type: 'object', properties: {} } }));
  return { tools, tool_choice: { type: 'none' } };
}

function oneAtATime(choice: ToolChoice = { type: 'auto' }): ToolChoice {
  return choice.type === 'none' ? choice : { ...choice, disable_parallel_tool_use: true };
}
