import {
  definePlugin,
  headerChoice,
  Type,
  withFields,
  type CatalogModel,
  type MessagesRequest,
  type Tool,
} from '@gw2api/gateway/plugin';

/** Adds a web search tool, unless the caller has opted out. */
export default definePlugin({
  name: 'web-search-tool',
  api: 1,
  requires: ['request'],
  provides: ['request', 'additions'],
  options: Type.Object({
    type: Type.String({
      minLength: 1,
      default: 'web_search_20250305',
      description: "The upstream's name for this kind of tool.",
    }),
    maxUses: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Max searches in one answer. Default: as many as the upstream allows.',
      }),
    ),
  }),
  setup({ type, maxUses }, host) {
    const tool: Tool = { type, name: toolName, ...(maxUses && { max_uses: maxUses }) };
    return function webSearchTool(ctx, next) {
      const { state } = ctx;
      const asked = headerChoice(ctx.headers, 'x-gw-web-search', ['true', 'false']);
      if (asked !== 'false' && hasRoom(state.request, host.models.find(state.request.model))) {
        state.request = withFields(state.request, { tools: [...(state.request.tools ?? []), tool] });
        state.additions = { ...state.additions, tools: [...state.additions.tools, tool] };
      }
      return next();
    };
  },
});

const toolName = 'web_search';

/**
 * True if the tool may be added: the caller has no web search of its own, and the model can search (unknown ones can).
 * It stays for callers that want no tool or one by name, since adding and removing tools loses prompt caches; a choice
 * of any tool leaves it out, as the model could pick it.
 */
export function hasRoom({ tools, tool_choice }: MessagesRequest, model: CatalogModel | undefined): boolean {
  const choice: unknown = tool_choice?.type; // `required` is not in Messages, but callers send it
  const isFree = choice !== 'any' && choice !== 'required';
  const own: unknown = tools ?? []; // not validated: its items may have any type
  return isFree && model?.webSearch !== false && Array.isArray(own) && !own.some(isWebSearch);
}

function isWebSearch(tool: unknown): boolean {
  const { name, type } = Object(tool) as Partial<Tool>; // not validated: its fields are only compared
  return name === toolName || (typeof type === 'string' && type.startsWith(`${toolName}_`));
}
