import {
  cacheMarkers,
  definePlugin,
  maxCacheMarkers,
  Type,
  type MessagesRequest,
  type TextBlock,
} from 'gw2api/plugin';

/** Puts the operator's text in front of every system prompt (contract §1). */
export default definePlugin({
  name: 'persona-inject',
  requires: ['request', 'additions'],
  provides: ['request', 'additions'],
  options: Type.Object({
    /** The same for every session, so that the upstream's cache can serve it; empty: nothing is added. */
    text: Type.String({ default: 'You are a careful and helpful assistant.' }),
    /** Give it a cache marker of its own where the request has one left. */
    cache: Type.Boolean({ default: false }),
  }),
  setup({ text, cache }) {
    return async function personaInject(ctx, next) {
      const { state } = ctx;
      if (text !== '') {
        const persona = personaBlock(text, cache && hasFreeMarker(state.request));
        state.request = withPersona(state.request, persona);
        state.additions = { ...state.additions, system: [persona, ...state.additions.system] };
      }
      await next();
    };
  },
});

/** The persona as the first system block, the caller's own after it as they came. */
export function withPersona(request: MessagesRequest, persona: TextBlock): MessagesRequest {
  const { system } = request;
  const own = typeof system === 'string' ? textBlocks(system) : [system ?? []].flat();
  return { ...request, system: [persona, ...own] };
}

function personaBlock(text: string, isMarked: boolean): TextBlock {
  return { type: 'text', text, ...(isMarked && { cache_control: { type: 'ephemeral' } }) };
}

function hasFreeMarker(request: MessagesRequest): boolean {
  return cacheMarkers(request).length < maxCacheMarkers;
}

/** Upstreams refuse a text block without text. */
function textBlocks(text: string): readonly TextBlock[] {
  return text === '' ? [] : [{ type: 'text', text }];
}
