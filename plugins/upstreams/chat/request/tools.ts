import type { MessagesRequest, Tool, ToolChoice } from 'gw2api/plugin';
import { reportLostTool } from '../../shared/lost-tool.js';
import { sentParameters } from '../../shared/openai-schemas.js';
import { sentChoice } from '../../shared/sent-choice.js';
import { reportUnreadTool } from '../../shared/unread-tool.js';
import type { ChatTool } from './chat-body.js';
import type { Conversion } from './content.js';
import { withMarker } from './markers.js';

/** `tools`, `tool_choice` and `parallel_tool_calls`. Tools that a vendor runs itself are left out and reported. */
export function toolFields(
  { tools = [], tool_choice: wanted }: MessagesRequest,
  conversion: Conversion,
): Readonly<Record<string, unknown>> {
  const { capabilities, dropped } = conversion;
  const functions = tools.flatMap((tool, at) => functionOf(tool, `tools[${at}]`, conversion));
  if (functions.length === 0) {
    if (wanted && wanted.type !== 'auto' && wanted.type !== 'none') dropped.add('tool_choice');
    return {};
  }
  const sent = new Set(functions.map((tool) => tool.function.name));
  const choice = sentChoice(wanted, (name) => sent.has(conversion.names.short(name)), dropped);
  const chosen = chosenTools(functions, choice, conversion);
  const isSingle =
    choice !== undefined && choice.type !== 'none' && choice.disable_parallel_tool_use === true;
  if (isSingle && !capabilities.parallelToolCalls) dropped.add('tool_choice.disable_parallel_tool_use');
  return { ...chosen, ...(isSingle && capabilities.parallelToolCalls && { parallel_tool_calls: false }) };
}

function functionOf(tool: Tool, path: string, conversion: Conversion): readonly ChatTool[] {
  const { capabilities, dropped, names } = conversion;
  const { name, type = 'custom', description, strict } = tool;
  if (type !== 'custom') {
    reportLostTool(tool, path, conversion);
    return [];
  }
  reportUnreadTool(tool, path, dropped);
  const { schema, isStrict } = sentParameters(tool, path, conversion);
  const definition = {
    name: names.short(name),
    ...(description !== undefined && { description }),
    parameters: schema,
    ...(isStrict ? { strict: true } : strict === false && capabilities.strictTools && { strict }),
  };
  return [withMarker({ type: 'function', function: definition }, tool.cache_control, conversion)];
}

/** Tools and choice in the server's words; one by name is said by offering that tool alone, where need be. */
function chosenTools(
  tools: readonly ChatTool[],
  choice: ToolChoice | undefined,
  { capabilities, dropped, names }: Conversion,
): Readonly<Record<string, unknown>> {
  const { toolChoice } = capabilities;
  if (!choice || choice.type === 'auto')
    return toolChoice === 'none' || !choice ? { tools } : { tools, tool_choice: 'auto' };
  if (toolChoice === 'none') {
    if (choice.type === 'none') return {};
    dropped.add('tool_choice');
    return { tools };
  }
  if (choice.type !== 'tool') return { tools, tool_choice: words[choice.type] };
  const name = names.short(choice.name);
  if (toolChoice === 'named') return { tools, tool_choice: { type: 'function', function: { name } } };
  return { tools: tools.filter((tool) => tool.function.name === name), tool_choice: 'required' };
}

const words = { any: 'required', none: 'none' } as const;
