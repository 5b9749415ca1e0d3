import type { MessagesRequest, Tool, ToolChoice } from '@gw2api/gateway/plugin';
import { allowedTools, offeredTools } from '@gw2api/gateway/plugin/upstream';
import { reportLostTool, sentChoice, reportUnreadTool } from '../../shared/losses/sent-choice.js';
import { sentParameters } from '../../shared/openai/openai-schemas.js';
import type { ChatTool } from './chat-body.js';
import type { Conversion } from './content.js';
import { withMarker } from './markers.js';

/** `tools`, `tool_choice` and `parallel_tool_calls`. Tools that a vendor runs itself are left out and reported. */
export function toolFields(
  request: MessagesRequest,
  conversion: Conversion,
): Readonly<Record<string, unknown>> {
  const { tools = [], tool_choice: wanted } = request;
  const { capabilities, dropped, addedTools } = conversion;
  const isListed = capabilities.toolChoice === 'allowed';
  const offered = new Set(isListed ? tools : offeredTools(request, addedTools));
  const functions = tools.flatMap((tool, at) =>
    offered.has(tool) ? functionOf(tool, `tools[${at}]`, conversion) : [],
  );
  if (functions.length === 0) {
    if (wanted && wanted.type !== 'auto' && wanted.type !== 'none') dropped.add('tool_choice');
    return {};
  }
  const sent = new Set(functions.map((tool) => tool.function.name));
  const choice = sentChoice(wanted, (name) => sent.has(conversion.names.short(name)), dropped);
  const allowed = isListed ? allowedTools(request) : undefined;
  const chosen = allowed
    ? listedChoice(functions, allowed, choice, conversion)
    : chosenTools(functions, choice, conversion);
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

/** All tools, and a choice among those that are allowed. */
function listedChoice(
  tools: readonly ChatTool[],
  allowed: ReadonlySet<string>,
  choice: ToolChoice | undefined,
  { names, dropped }: Conversion,
): Readonly<Record<string, unknown>> {
  const listed = new Set([...allowed].map((name) => names.short(name)));
  const listedTools = tools.filter((tool) => listed.has(tool.function.name));
  if (listedTools.length === 0) {
    dropped.add('tool_choice');
    return { tools, tool_choice: 'none' };
  }
  const mode = choice?.type === 'any' ? 'required' : 'auto';
  const references = listedTools.map(({ function: { name } }) => ({ type: 'function', function: { name } }));
  return { tools, tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: references } } };
}

/**
 * Tools and choice in the server's words; a choice by name is expressed by offering that tool alone, if necessary.
 */
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
  if (toolChoice !== 'words') return { tools, tool_choice: { type: 'function', function: { name } } };
  return { tools: tools.filter((tool) => tool.function.name === name), tool_choice: 'required' };
}

const words = { any: 'required', none: 'none' } as const;
