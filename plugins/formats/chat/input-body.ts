import { withFields } from '@gw2api/gateway/plugin';
import type { FormatContext } from '@gw2api/gateway/plugin/format';
import type { ResponsesBody } from '../responses/body.js';
import { inputItems } from '../responses/input.js';
import { toolNames } from '../responses/tools.js';
import { responsesItems } from './input-items.js';
import { isRecord } from '../shared/body.js';
import type { CallerTools } from '../shared/tools/tools.js';

type Fields = Readonly<Record<string, unknown>>;

interface InputBody {
  readonly body: Fields;
  /** Index in the caller's `input` of each item. */
  readonly origins: readonly number[];
}

/** Responses bodies by the Chat bodies that they were made of. */
const bodies = new WeakMap<object, InputBody>();

/**
 * The Responses body of a client that sends `input` to the Chat route (Cursor's agent mode); undefined for a
 * body with `messages`. The same for the same body.
 */
export function inputBody(body: unknown): Fields | undefined {
  if (!isRecord(body) || !isNothing(body['messages']) || isNothing(body['input'])) return undefined;
  const known = bodies.get(body) ?? toResponses(body);
  bodies.set(body, known);
  return known.body;
}

/** Index in the caller's `input` of each item of its Responses body. */
export function inputOrigins(body: Fields): readonly number[] {
  return bodies.get(body)?.origins ?? [];
}

export interface InputTools {
  readonly tools: CallerTools;
  readonly textFunctions: ReadonlySet<string>;
  readonly calledIds: readonly string[];
}

/** The tools of a decoded body, custom ones as functions of their text. */
export async function inputTools(body: Fields, context: FormatContext): Promise<InputTools> {
  const asked = body as ResponsesBody; // checked when it was decoded
  const items = await inputItems(asked, context);
  const tools = toolNames(asked, items);
  const custom = [...tools.values()].filter(({ kind }) => kind === 'custom').map(({ name }) => name);
  const calls = items.filter(({ type }) => type === 'function_call' || type === 'custom_tool_call');
  const calledIds = calls.flatMap(({ call_id: id }) => (typeof id === 'string' ? [id] : []));
  return { tools, textFunctions: new Set(custom), calledIds };
}

function toResponses(body: Fields): InputBody {
  const { messages: _, max_tokens, max_completion_tokens, tools, tool_choice, input, ...rest } = body;
  const { reasoning_effort: effort, response_format: format, ...asked } = rest;
  const flat = Array.isArray(tools) ? tools.map(flatTool) : tools;
  const { items, origins } = responsesItems(Array.isArray(input) ? input : [], customTools(flat));
  const made = {
    ...asked,
    store: false,
    max_output_tokens: body['max_output_tokens'] ?? max_completion_tokens ?? max_tokens,
    ...(flat !== undefined && { tools: flat }),
    ...(tool_choice !== undefined && { tool_choice: flatChoice(tool_choice) }),
    ...(isNothing(asked['reasoning']) && !isNothing(effort) && { reasoning: { effort } }),
    ...(isNothing(asked['text']) && !isNothing(format) && { text: { format: flatFormat(format) } }),
    input: Array.isArray(input) ? items : input,
  };
  return { body: made, origins };
}

/** A Responses tool, made from one in the shape of Chat or Messages. */
function flatTool(tool: unknown): unknown {
  if (!isRecord(tool)) return tool;
  const { function: called, custom, input_schema: schema } = tool;
  if (isRecord(called)) return flattened(tool, called, { type: 'function' });
  if (isRecord(custom)) return flattened(tool, custom, { ...grammarOf(custom['format']), type: 'custom' });
  if (isRecord(schema)) return flattened(tool, {}, { parameters: schema, type: 'function' });
  return isNothing(tool['type']) ? { ...tool, type: 'function' } : tool;
}

/** Tool with the fields of its definition beside its own. */
function flattened(tool: Fields, definition: Fields, own: Fields): Fields {
  const { function: _, custom: _custom, input_schema: _schema, ...beside } = tool;
  return withFields(withFields(beside, definition), own);
}

function grammarOf(format: unknown): Fields {
  if (!isRecord(format) || !isRecord(format['grammar'])) return {};
  return { format: { type: 'grammar', ...format['grammar'] } };
}

/** A Responses tool choice, made from one in the shape of Chat or Messages. */
function flatChoice(choice: unknown): unknown {
  if (!isRecord(choice)) return choice;
  const { type, function: called, custom } = choice;
  if (type === 'auto' || type === 'any' || type === 'none' || type === 'required') return type;
  if (type === 'tool') return { type: 'function', name: choice['name'] };
  const nested = called ?? custom;
  return isRecord(nested) ? { type, name: nested['name'] } : choice;
}

function flatFormat(format: unknown): unknown {
  if (!isRecord(format) || !isRecord(format['json_schema'])) return format;
  return { ...format['json_schema'], type: format['type'] };
}

/** Names of the custom tools that are declared. */
function customTools(tools: unknown): ReadonlySet<unknown> {
  const declared = Array.isArray(tools) ? tools.filter(isRecord) : [];
  return new Set(declared.filter(({ type }) => type === 'custom').map(({ name }) => name));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}
