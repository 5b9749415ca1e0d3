import type { MessagesRequest, Tool, ToolChoice } from '@gw2api/gateway/plugin';
import { allowedTools, offeredTools } from '@gw2api/gateway/plugin/upstream';
import { reportLostTool, sentChoice, reportUnreadTool } from '../../shared/losses/sent-choice.js';
import { sentParameters } from '../../shared/openai/openai-schemas.js';
import type { Conversion } from './parts.js';

type Fields = Readonly<Record<string, unknown>>;

/** `tools`, `tool_choice` and `parallel_tool_calls`. Tools that a vendor runs itself are left out and reported. */
export function toolFields(request: MessagesRequest, conversion: Conversion): Fields {
  const { tools = [], tool_choice: wanted } = request;
  const { settings, addedTools } = conversion;
  const offered = settings.allowedTools === false ? new Set(offeredTools(request, addedTools)) : undefined;
  const functions = tools.flatMap((tool, at) =>
    !offered || offered.has(tool) ? functionOf(tool, `tools[${at}]`, conversion) : [],
  );
  if (functions.length === 0) {
    if (wanted?.type === 'any' || wanted?.type === 'tool') conversion.dropped.add('tool_choice');
    return {};
  }
  const sent = new Set(functions.map(({ name }) => name));
  const choice = sentChoice(wanted, (name) => sent.has(conversion.names.short(name)), conversion.dropped);
  const isSingle =
    choice !== undefined && choice.type !== 'none' && choice.disable_parallel_tool_use === true;
  return {
    tools: functions,
    ...choiceField(functions, choice, offered ? undefined : allowedTools(request), conversion),
    ...(isSingle && { parallel_tool_calls: false }),
  };
}

/**
 * Function; with `strict` unless a Responses caller has left it to the server, where it is on by default. Tools that a
 * vendor runs itself are reported.
 */
function functionOf(tool: Tool, path: string, conversion: Conversion): readonly Fields[] {
  const { name, type = 'custom', description, strict } = tool;
  const { dropped, names } = conversion;
  if (type !== 'custom') {
    reportLostTool(tool, path, conversion);
    return [];
  }
  reportUnreadTool(tool, path, dropped);
  const { schema, isStrict } = sentParameters(tool, path, conversion);
  return [
    {
      type: 'function',
      name: names.short(name),
      ...(description !== undefined && { description }),
      parameters: schema,
      ...((strict !== null || !conversion.isTranslated) && { strict: isStrict }),
    },
  ];
}

/** Choice, among the functions that are allowed if those are not all. */
function choiceField(
  functions: readonly Fields[],
  choice: ToolChoice | undefined,
  allowed: ReadonlySet<string> | undefined,
  conversion: Conversion,
): Fields {
  if (!allowed) return choice ? { tool_choice: choiceOf(choice, conversion) } : {};
  const listed = new Set<unknown>([...allowed].map((name) => conversion.names.short(name)));
  const tools = functions.flatMap(({ name }) => (listed.has(name) ? [{ type: 'function', name }] : []));
  const mode = choice?.type === 'any' ? 'required' : 'auto';
  if (tools.length > 0) return { tool_choice: { type: 'allowed_tools', mode, tools } };
  conversion.dropped.add('tool_choice');
  return { tool_choice: 'none' };
}

function choiceOf(choice: ToolChoice, { names }: Conversion): unknown {
  if (choice.type === 'tool') return { type: 'function', name: names.short(choice.name) };
  return choice.type === 'any' ? 'required' : choice.type;
}
