import type { MessagesRequest, Tool, ToolChoice } from 'gw2api/plugin';
import type { UnsupportedFields } from './unsupported-fields.js';

/** Tools and tool choice of a caller, under the names that the upstream knows. */
export interface ToolParams {
  readonly tools: readonly Tool[];
  readonly choice?: ToolChoice | undefined;
  /** `allowed_tools`: only these are offered. */
  readonly allowed?: readonly string[] | undefined;
  /** False: one call at a time. */
  readonly parallel?: boolean | null | undefined;
  /** Tools that the history has called. */
  readonly called: readonly string[];
}

/** `tools` and `tool_choice` of the upstream request; a choice that cannot be kept is reported. */
export function resolveTools(
  params: ToolParams,
  dropped: UnsupportedFields,
): Pick<MessagesRequest, 'tools' | 'tool_choice'> {
  const allowed = params.allowed && new Set(params.allowed);
  const tools = allowed ? params.tools.filter(({ name }) => allowed.has(name)) : params.tools;
  if (tools.length === 0) {
    if (isForced(params.choice)) dropped.add('tool_choice');
    return redeclare(params.called);
  }
  const choice = params.parallel === false ? oneAtATime(params.choice) : params.choice;
  return { tools, ...(choice && { tool_choice: choice }) };
}

/** True if the choice forces the model to call a tool. */
export function isForced(choice: ToolChoice | undefined): boolean {
  return choice?.type === 'any' || choice?.type === 'tool';
}

/** The upstream refuses a history with tool calls where no tool is declared. */
function redeclare(called: readonly string[]): Pick<MessagesRequest, 'tools' | 'tool_choice'> {
  if (called.length === 0) return {};
  const tools = called.map((name) => ({ name, input_schema: { type: 'object', properties: {} } }));
  return { tools, tool_choice: { type: 'none' } };
}

function oneAtATime(choice: ToolChoice = { type: 'auto' }): ToolChoice {
  return choice.type === 'none' ? choice : { ...choice, disable_parallel_tool_use: true };
}
