import {
  asForcedTool,
  definePlugin,
  type MessagesRequest,
  type Tool,
  type ToolChoice,
} from '@gw2api/gateway/plugin';

/** Approximates forced tool choice for models that do not support it. */
export default definePlugin({
  name: 'tool-choice',
  api: 1,
  requires: ['request'],
  provides: ['request'],
  setup(_, host) {
    return function toolChoice(ctx, next) {
      const model = host.models.find(ctx.state.request.model);
      if (model?.forcedToolChoice === false) ctx.state.request = unforced(ctx.state.request);
      return next();
    };
  },
});

/**
 * Replaces a forced tool choice by `auto`; a tool that was forced by name is marked as strict, for the upstream to
 * close its schema.
 */
export function unforced(request: MessagesRequest): MessagesRequest {
  const { tool_choice: choice, tools } = request;
  if (!choice || !forcing.has(choice.type)) return request;
  const auto = { ...request, tool_choice: autoChoice(choice) };
  if (choice.type !== 'tool' || !Array.isArray(tools)) return auto;
  const at = tools.findIndex((tool: Tool | null) => tool?.name === choice.name); // not validated
  const tool = tools[at];
  if (!tool || !isClientTool(tool)) return auto;
  return { ...auto, tools: tools.with(at, asForcedTool(tool)) };
}

/** Tool choices that force a call; `required` is not in Messages, but callers send it. */
const forcing: ReadonlySet<string> = new Set(['any', 'tool', 'required']);

function autoChoice(choice: ToolChoice): ToolChoice {
  if (!('disable_parallel_tool_use' in choice)) return { type: 'auto' };
  return { type: 'auto', disable_parallel_tool_use: choice.disable_parallel_tool_use };
}

/** True for a client tool; server tools have no arguments that we could constrain. */
function isClientTool({ type }: Tool): boolean {
  return type === undefined || type === null || type === 'custom';
}
