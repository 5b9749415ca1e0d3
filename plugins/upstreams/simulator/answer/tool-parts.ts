import type { ContentBlock, MessagesRequest, Tool } from '@gw2api/gateway/plugin';
import { instanceOf } from './instance.js';
import { lastUserText, withoutMarkers } from '../scenarios/marker.js';
import type { Part } from './part.js';
import { idFrom, type Random } from '../random.js';

type CallPart = Extract<Part, { kind: 'call' }>;

/** Inputs from which a tool call is made. */
interface CallContext {
  readonly request: MessagesRequest;
  readonly seed: string;
  readonly random: Random;
}

/**
 * The tools that an unguided answer calls: the forced one, or with `auto` the one whose name the last user
 * message mentions, but never right after a tool's result.
 */
export function toolsToCall(request: MessagesRequest): readonly Tool[] {
  const { tool_choice: choice } = request;
  const tools = callableTools(request);
  if (choice?.type === 'none') return [];
  if (choice?.type === 'tool') return (request.tools ?? []).filter(({ name }) => name === choice.name);
  const mentioned = tools.filter(({ name }) => mentions(withoutMarkers(lastUserText(request)), name));
  if (choice?.type === 'any') return [mentioned[0] ?? tools[0] ?? []].flat();
  return lastToolResult(request) === undefined ? mentioned.slice(0, 1) : [];
}

/** The caller's own tools that are not deferred. */
export function callableTools({ tools = [] }: MessagesRequest): readonly Tool[] {
  return tools.filter(
    ({ type, ...tool }) => (type ?? 'custom') === 'custom' && tool['defer_loading'] !== true,
  );
}

/** One call per tool, with arguments that fit its schema; only the first if parallel calls are off. */
export function callParts(
  tools: readonly Tool[],
  context: CallContext,
  hasArguments = true,
): readonly CallPart[] {
  const { tool_choice: choice } = context.request;
  const isSingle =
    choice !== undefined && 'disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use;
  return (isSingle ? tools.slice(0, 1) : tools).map(({ name, input_schema }, at) => ({
    kind: 'call',
    type: 'tool_use',
    id: idFrom('toolu', `${context.seed}${at}`),
    name,
    json: hasArguments ? JSON.stringify(instanceOf(input_schema, context.random)) : '',
  }));
}

/** Text of the first tool result in the last message; undefined if there is none. */
export function lastToolResult({ messages }: MessagesRequest): string | undefined {
  const last = messages.findLast(({ role }) => role !== 'system')?.content ?? '';
  const result = typeof last === 'string' ? undefined : last.find(({ type }) => type === 'tool_result');
  if (!result) return undefined;
  const content = result['content'] ?? '';
  if (typeof content === 'string') return content;
  return (content as readonly ContentBlock[]) // its shape was checked
    .map((block) => (block.type === 'text' ? block.text : `(${block.type})`))
    .join('\n');
}

function mentions(text: string, name: string): boolean {
  const at = text.toLowerCase().indexOf(name.toLowerCase());
  return at >= 0 && !/\w/.test(text[at - 1] ?? '') && !/\w/.test(text[at + name.length] ?? '');
}
