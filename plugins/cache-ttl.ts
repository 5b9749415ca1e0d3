import {
  cacheMarkers,
  definePlugin,
  headerChoice,
  mapCacheMarkers,
  maxCacheMarkers,
  Type,
  withFields,
  type Additions,
  type ContentBlock,
  type MessagesRequest,
} from 'gw2api/plugin';

type Ttl = '5m' | '1h';

/** Sets the lifetime of the upstream's prompt cache (contract §4.6, §8). */
export default definePlugin({
  name: 'cache-ttl',
  api: 1,
  requires: ['request'],
  provides: ['request'],
  options: Type.Object({
    /** Time to live of cache markers without one. */
    ttl: Type.Union([Type.Literal('5m'), Type.Literal('1h')], { default: '1h' }),
    /**
     * Mark the last block of requests in dialects without cache markers; without it, every turn costs the
     * full price.
     */
    auto: Type.Boolean({ default: true }),
  }),
  setup({ ttl, auto }, host) {
    host.announce({ cache_ttl_seconds: ttl === '5m' ? 300 : 3600 });
    return function cacheTtl(ctx, next) {
      const { state } = ctx;
      const forced = headerChoice(ctx.headers, 'x-gw-cache-ttl', ['5m']);
      const markers = cacheMarkers(state.request).length;
      const isMute =
        auto && !host.formats.get(state.format).keepsBytes && !hasOwnMarkers(markers, state.additions);
      const request = isMute ? markLastBlock(state.request, { markers, ttl: forced ?? ttl }) : state.request;
      // A marker that was added just now already has its ttl.
      state.request = markers > 0 ? withTtl(request, ttl, forced) : request;
      return next();
    };
  },
});

/**
 * Sets the ttl of each marker: 5m if forced, else its own, else `ttl`. After a 5m marker all are 5m, since
 * the upstream refuses 1h after 5m.
 */
export function withTtl(request: MessagesRequest, ttl: Ttl, forced?: Ttl): MessagesRequest {
  let isShort = forced === '5m';
  return mapCacheMarkers(request, (marker) => {
    const wanted = isShort ? '5m' : (marker.ttl ?? ttl);
    isShort ||= wanted === '5m';
    return marker.ttl === wanted ? marker : withFields(marker, { ttl: wanted });
  });
}

/** True if the caller set cache markers itself; those of our own additions do not count. */
function hasOwnMarkers(all: number, additions: Additions): boolean {
  return all > 0 && all > cacheMarkers({ ...additions, model: '', messages: [] }).length;
}

/** Number of markers in a request, and the ttl of a new one. */
interface Marking {
  readonly markers: number;
  readonly ttl: Ttl;
}

/**
 * Adds a marker to the last block that may have one, unless the request has the max number of them. Late system
 * text gets none: it may be written into the turn before it.
 */
export function markLastBlock(request: MessagesRequest, { markers, ttl }: Marking): MessagesRequest {
  const { messages } = request;
  const at = messages.findLastIndex(
    ({ role, content }) => role !== 'system' && asBlocks(content).some(isMarkable),
  );
  const message = messages[at];
  if (!message || markers >= maxCacheMarkers) return request;
  const content = withMarkerOnLast(asBlocks(message.content), ttl);
  return { ...request, messages: messages.with(at, { ...message, content }) };
}

function withMarkerOnLast(blocks: readonly ContentBlock[], ttl: Ttl): readonly ContentBlock[] {
  const at = blocks.findLastIndex(isMarkable);
  const block = blocks[at];
  return block ? blocks.with(at, withFields(block, { cache_control: { type: 'ephemeral', ttl } })) : blocks;
}

function asBlocks(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

/** False for blocks on which upstreams refuse a marker. */
function isMarkable(block: ContentBlock): boolean {
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return false;
  return block.type !== 'text' || block.text !== '';
}
