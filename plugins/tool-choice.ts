import { closeSchema, definePlugin, type MessagesRequest, type Tool, type ToolChoice } from 'gw2api/plugin';

/** Forced tool choice for models that have none: as near as they come to it (contract §4.4). */
export default definePlugin({
  name: 'tool-choice',
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

/** Forces nothing any more; the tool that was forced by name becomes strict. */
export function unforced(request: MessagesRequest): MessagesRequest {
  const { tool_choice: choice, tools } = request;
  if (!choice || !forcing.has(choice.type)) return request;
  const auto = { ...request, tool_choice: autoChoice(choice) };
  if (choice.type !== 'tool' || !Array.isArray(tools)) return auto;
  const at = tools.findIndex((tool: Tool | null) => tool?.name === choice.name); // nobody has checked them
  const tool = tools[at];
  return tool ? { ...auto, tools: tools.with(at, strictTool(tool)) } : auto;
}

/** `required` is no Messages word, but callers write it. */
const forcing: ReadonlySet<string> = new Set(['any', 'tool', 'required']);

function autoChoice(choice: ToolChoice): ToolChoice {
  if (!('disable_parallel_tool_use' in choice)) return { type: 'auto' };
  return { type: 'auto', disable_parallel_tool_use: choice.disable_parallel_tool_use };
}

/** Server tools have no arguments that we could constrain. */
function strictTool(tool: Tool): Tool {
  const isClientTool = tool.type === undefined || tool.type === 'custom';
  if (!isClientTool) return tool;
  const { input_schema: schema } = tool;
  return { ...tool, strict: true, ...(schema && { input_schema: closeSchema(schema) }) };
}
