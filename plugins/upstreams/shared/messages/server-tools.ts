import { Type, type Loss, type MessagesRequest, type SlotCall, type Tool } from '@gw2api/gateway/plugin';

/** Type prefixes of server tools, which a service has to run itself. */
const runByServer = ['web_search_', 'web_fetch_', 'code_execution_', 'advisor_'];

/** Option of a slot: the server tools that its service has. */
export function serverToolsOption(options: { readonly default?: string[] } = {}) {
  return Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    ...options,
    description:
      'Server tools that the service runs, by the prefixes of their types (web_search): the gateway sends no others, neither its own nor those of translated requests.',
  });
}

export interface WithoutTools {
  readonly request: MessagesRequest;
  /** The caller's tools that are not sent. */
  readonly losses: readonly Loss[];
  /** Tools of the gateway that are not sent. */
  readonly leftOut: readonly Tool[];
}

/** Tool of the gateway that a call has; undefined for a tool of its caller. */
export function addedTool(tool: Tool | null, { addedTools }: SlotCall): Tool | undefined {
  return addedTools?.find(({ name, type }) => name === tool?.name && type === tool.type);
}

/**
 * The request without the gateway's or translated tools that the service is not known to run; `runs`: the prefixes of
 * their types. A Messages caller's own tools are left for the service to refuse.
 */
export function withoutServerTools(
  request: MessagesRequest,
  runs: readonly string[],
  call: SlotCall,
): WithoutTools {
  const tools: unknown = request.tools; // not validated
  const losses: Loss[] = [];
  const leftOut: Tool[] = [];
  if (!Array.isArray(tools)) return { request, losses, leftOut };
  const kept = tools.filter((tool: Tool | null, at) => {
    if (!isRunByServer(tool) || runs.some((start) => tool.type?.startsWith(start))) return true;
    const added = addedTool(tool, call);
    if (added) leftOut.push(added);
    else if (call.isTranslated) losses.push({ path: `tools[${at}]`, kind: 'setting' });
    else return true;
    return false;
  });
  return kept.length === tools.length
    ? { request, losses, leftOut }
    : { request: withTools(request, kept), losses, leftOut };
}

function isRunByServer(tool: Tool | null): tool is Tool {
  const type: unknown = tool?.type;
  return typeof type === 'string' && runByServer.some((start) => type.startsWith(start));
}

/** Removes the choice with the last tool. */
function withTools(request: MessagesRequest, tools: readonly Tool[]): MessagesRequest {
  if (tools.length > 0) return { ...request, tools };
  const { tools: _, tool_choice: __, ...rest } = request;
  return rest;
}
