import type { MessagesRequest } from '@gw2api/gateway/plugin';
import type { ThinkingParams } from './thinking.js';

/** Names of the parts of one request in the caller's format. */
export interface CallerPaths {
  /** Caller's name by that of Messages: `stop` for `stop_sequences`. A part of a named field keeps its rest. */
  readonly fields: Readonly<Record<string, string>>;
  /** Place of a tool in the caller's body, by its upstream name; undefined if the caller declared no such tool. */
  readonly toolPath: (name: string) => ToolPath | undefined;
  /** Caller's path of a message or block of the request: `messages[1].content[0]`. */
  readonly contentPath: (path: string) => string | undefined;
}

/** Places of a tool: the whole tool, its description (`tools[0].function`), and a marker beside that. */
export interface ToolPath {
  readonly tool: string;
  readonly definition: string;
  readonly marker?: string;
}

/** Translation of paths in a decoded request to those of the caller's body; built only for a report. */
export function callerPathOf(
  request: MessagesRequest,
  names: () => CallerPaths,
): (path: string) => string | undefined {
  let known: CallerPaths | undefined;
  return (path) => {
    const { fields, toolPath, contentPath } = (known ??= names());
    const tool = /^tools\[(\d+)\](.*)$/s.exec(path);
    if (tool) return pathInTool(toolPath(request.tools?.[Number(tool[1])]?.name ?? ''), tool[2] ?? '');
    if (/^(?:messages\[|system\b)/.test(path)) return contentPath(path);
    for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
      const name = path.slice(0, end);
      if (Object.hasOwn(fields, name)) return `${fields[name]}${path.slice(end)}`;
    }
    return path;
  };
}

/** Names of settings that Chat and Responses share, and the place of the thinking setting. */
export function settingPaths({ path }: ThinkingParams): Readonly<Record<string, string>> {
  return {
    stop_sequences: 'stop',
    thinking: path,
    'thinking.budget_tokens': path,
    'thinking.display': path.startsWith('thinking.') ? 'thinking.display' : path,
    'output_config.effort': path,
    'tool_choice.disable_parallel_tool_use': 'parallel_tool_calls',
    metadata: 'user',
    'metadata.user_id': 'user',
  };
}

function pathInTool(at: ToolPath | undefined, rest: string): string | undefined {
  if (!at) return undefined;
  if (rest === '') return at.tool;
  if (rest === '.cache_control' && at.marker !== undefined) return at.marker;
  return `${at.definition}${rest.replace(/^\.input_schema\b/, '.parameters')}`;
}
