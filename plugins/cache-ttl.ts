import {
  cacheMarkers,
  definePlugin,
  headerChoice,
  mapCacheMarkers,
  maxCacheMarkers,
  Type,
  type Additions,
  type ContentBlock,
  type MessagesRequest,
} from 'gw2api/plugin';

type Ttl = '5m' | '1h';

/** How long the upstream keeps what it caches (contract §4.6, §8). */
export default definePlugin({
  name: 'cache-ttl',
  requires: ['request', 'format', 'additions'],
  provides: ['request'],
  options: Type.Object({
    /** Of markers that say nothing themselves. */
    ttl: Type.Union([Type.Literal('5m'), Type.Literal('1h')], { default: '1h' }),
    /** Mark the last block of requests in dialects that cannot say it: without, every turn costs the full price. */
    auto: Type.Boolean({ default: true }),
  }),
  setup({ ttl, auto }, host) {
    host.announce({ cache_ttl_seconds: ttl === '5m' ? 300 : 3600 });
    return async function cacheTtl(ctx, next) {
      const { state } = ctx;
      const forced = headerChoice(ctx.headers, 'x-gw-cache-ttl', ['5m']);
      const isMute = auto && state.format !== 'messages' && !hasOwnMarkers(state.request, state.additions);
      const request = isMute ? markLastBlock(state.request) : state.request;
      state.request = withTtl(request, ttl, forced);
      await next();
    };
  },
});

/** `forced` goes everywhere; else what a marker says stays, but after 5m all is 5m: the upstream refuses another order. */
export function withTtl(request: MessagesRequest, ttl: Ttl, forced?: Ttl): MessagesRequest {
  let isShort = forced === '5m';
  return mapCacheMarkers(request, (marker) => {
    const wanted = isShort ? '5m' : (marker.ttl ?? ttl);
    isShort ||= wanted === '5m';
    return marker.ttl === wanted ? marker : { ...marker, ttl: wanted };
  });
}

/** Markers that the caller set, those of our own additions not counted. */
function hasOwnMarkers(request: MessagesRequest, additions: Additions): boolean {
  const ours = cacheMarkers({ ...additions, model: '', messages: [] });
  return cacheMarkers(request).length > ours.length;
}

/** A marker on the last block that may have one, where the request has one left. */
export function markLastBlock(request: MessagesRequest): MessagesRequest {
  const { messages } = request;
  const at = messages.findLastIndex(({ content }) => asBlocks(content).some(isMarkable));
  const message = messages[at];
  if (!message || cacheMarkers(request).length >= maxCacheMarkers) return request;
  const content = withMarkerOnLast(asBlocks(message.content));
  return { ...request, messages: messages.with(at, { ...message, content }) };
}

function withMarkerOnLast(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  const at = blocks.findLastIndex(isMarkable);
  const block = blocks[at];
  return block ? blocks.with(at, { ...block, cache_control: { type: 'ephemeral' } }) : blocks;
}

function asBlocks(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** Upstreams refuse a marker on these. */
function isMarkable(block: ContentBlock): boolean {
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return false;
  return block.type !== 'text' || block.text !== '';
}
