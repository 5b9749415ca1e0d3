import type { ChatBody, ChatMessage, ChatTool, ChatToolCall } from './body.js';
import { customDefinition, functionDefinition, type Toolbox } from '../shared/tools/toolbox.js';

type FlatTool = ChatTool & { readonly name: string };

/** True for a tool that is not nested: a function as Messages or Responses has it, or a custom tool (Cursor). */
export function isFlat(tool: ChatTool): tool is FlatTool {
  const type = tool.type ?? 'function';
  return Boolean(tool.name) && !tool.function && !tool.custom && (type === 'function' || type === 'custom');
}

export function addFlatTool(tool: FlatTool, path: string, toolbox: Toolbox): void {
  if (!isCustom(tool)) {
    const parameters = tool.input_schema ?? tool.parameters ?? null;
    const definition = functionDefinition(tool, tool.name);
    return toolbox.addFunction({ ...definition, parameters, strict: tool.strict ?? undefined }, path);
  }
  const { syntax, definition } = tool.format ?? {};
  const grammar = syntax && definition ? { syntax, definition } : undefined;
  toolbox.addCustom({ ...customDefinition(tool, tool.name), grammar }, path);
}

/** True for a custom tool; a Messages tool named `custom` has a schema. */
function isCustom({ type, input_schema: schema }: ChatTool): boolean {
  return type === 'custom' && !schema;
}

/** Names of the flat custom tools, whose calls the client knows as functions with the text in `arguments`. */
export function textFunctions({ tools }: Pick<ChatBody, 'tools'>): ReadonlySet<string> {
  const flat = tools?.filter((tool) => isFlat(tool) && isCustom(tool)) ?? [];
  return flat.length === 0 ? none : new Set(flat.flatMap(({ name }) => name ?? []));
}

const none: ReadonlySet<string> = new Set();

/** The messages, with calls of flat custom tools turned back into custom calls. */
export function withTextCalls(body: ChatBody): readonly ChatMessage[] {
  const names = textFunctions(body);
  if (names.size === 0) return body.messages;
  return body.messages.map((message) => {
    const { tool_calls: calls } = message;
    return calls ? { ...message, tool_calls: calls.map((call) => asText(call, names)) } : message;
  });
}

function asText(call: ChatToolCall, names: ReadonlySet<string>): ChatToolCall {
  const { name, arguments: text } = call.function ?? {};
  if (name === undefined || !names.has(name) || typeof text !== 'string') return call;
  const { function: _, ...rest } = call;
  return { ...rest, type: 'custom', custom: { name, input: text } };
}
