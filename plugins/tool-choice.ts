import { definePlugin, reportLosses, type MessagesRequest, type Tool, type ToolChoice } from 'gw2api/plugin';
import { strictSchema, withoutRootRef } from 'gw2api/plugin/format';

/** Approximates forced tool choice for models that do not support it (contract §4.4). */
export default definePlugin({
  name: 'tool-choice',
  api: 1,
  requires: ['request'],
  provides: ['request'],
  setup(_, host) {
    return function toolChoice(ctx, next) {
      const model = host.models.find(ctx.state.request.model);
      if (model?.forcedToolChoice === false) {
        const { request, changed } = unforced(ctx.state.request);
        ctx.state.request = request;
        reportLosses(
          ctx.response,
          request,
          changed.map((path) => ({ path, kind: 'mend' })),
        );
      }
      return next();
    };
  },
});

export interface Unforced {
  readonly request: MessagesRequest;
  /** Schema keywords that were changed for the upstream: `tools[0].input_schema.minimum`. */
  readonly changed: readonly string[];
}

/** Replaces a forced tool choice by `auto`; a tool that was forced by name becomes strict. */
export function unforced(request: MessagesRequest): Unforced {
  const { tool_choice: choice, tools } = request;
  if (!choice || !forcing.has(choice.type)) return { request, changed: [] };
  const auto = { ...request, tool_choice: autoChoice(choice) };
  if (choice.type !== 'tool' || !Array.isArray(tools)) return { request: auto, changed: [] };
  const at = tools.findIndex((tool: Tool | null) => tool?.name === choice.name); // not validated
  const tool = tools[at];
  if (!tool || !isClientTool(tool)) return { request: auto, changed: [] };
  const { schema, changed } = strictInput(tool.input_schema);
  const strict = { ...tool, strict: true, ...(schema && { input_schema: schema }) };
  return {
    request: { ...auto, tools: tools.with(at, strict) },
    changed: changed.map((keyword) => `tools[${at}].input_schema.${keyword}`),
  };
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

/**
 * Strict input schema of a tool. One that the strict subset cannot express is closed all the same: the
 * contract wants the tool strict (§4.4).
 */
function strictInput(
  input: unknown,
): Partial<ReturnType<typeof strictSchema>> & { changed: readonly string[] } {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return { changed: [] };
  const { schema, changed } = strictSchema({ type: 'object', ...withoutRootRef({ ...input }) });
  return { schema: { type: 'object', ...schema }, changed };
}
