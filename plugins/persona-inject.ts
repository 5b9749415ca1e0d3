import {
  cacheMarkers,
  definePlugin,
  maxCacheMarkers,
  Type,
  withFields,
  withSystemBlock,
  type Additions,
  type MessagesRequest,
  type TextBlock,
} from '@gw2api/gateway/plugin';

/** Puts the operator's text in front of every system prompt, behind the attribution block of Claude Code. */
export default definePlugin({
  name: 'persona-inject',
  api: 1,
  requires: ['request'],
  provides: ['request', 'additions'],
  options: Type.Object({
    text: Type.String({
      default: 'You are a careful and helpful assistant.',
      description: "The same for every session; '' adds nothing.",
    }),
    cache: Type.Boolean({
      default: false,
      description: 'A cache marker of its own, where the request has one of its four left.',
    }),
  }),
  setup({ text, cache }) {
    // Shared by all requests, so that usage-mask recognizes the additions by identity.
    const plain = personaBlock(text, false);
    const marked = personaBlock(text, true);
    return function personaInject(ctx, next) {
      const { state } = ctx;
      if (text !== '') {
        const persona = cache && hasFreeMarker(state.request) ? marked : plain;
        state.request = withSystemBlock(state.request, persona);
        state.additions = withAddition(state.additions, persona);
      }
      return next();
    };
  },
});

function withAddition(additions: Additions, persona: TextBlock): Additions {
  const system = [persona, ...additions.system];
  if (!persona.cache_control) return { ...additions, system };
  const markers = new Map(additions.markers).set(persona.cache_control, 'marker');
  return withFields(additions, { system, markers });
}

function personaBlock(text: string, isMarked: boolean): TextBlock {
  return Object.freeze<TextBlock>(
    isMarked ? { type: 'text', text, cache_control: { type: 'ephemeral' } } : { type: 'text', text },
  );
}

function hasFreeMarker(request: MessagesRequest): boolean {
  return cacheMarkers(request).length < maxCacheMarkers;
}
