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
    return function cacheTtl(ctx, next) {
      const { state } = ctx;
      const forced = headerChoice(ctx.headers, 'x-gw-cache-ttl', ['5m']);
      const markers = cacheMarkers(state.request).length;
      const isMute = auto && state.format !== 'messages' && !hasOwnMarkers(markers, state.additions);
      const request = isMute ? markLastBlock(state.request, { markers, ttl: forced ?? ttl }) : state.request;
      // The one that was set just now says its time already.
      state.request = markers > 0 ? withTtl(request, ttl, forced) : request;
      return next();
    };
  },
});

/** `forced` goes everywhere; else what a marker says stays, but after 5m all is 5m: the upstream refuses another order. */
export function withTtl(request: MessagesRequest, ttl: Ttl, forced?: Ttl): MessagesRequest {
  let isShort = forced === '5m';
  return mapCacheMarkers(request, (marker) => {
    const wanted = isShort ? '5m' : (marker.ttl ?? ttl);
    isShort ||= wanted === '5m';
    return marker.ttl === wanted ? marker : withFields(marker, { ttl: wanted });
  });
}

/** Whether the caller has set some of all these markers, those of our own additions not counted. */
function hasOwnMarkers(all: number, additions: Additions): boolean {
  return all > 0 && all > cacheMarkers({ ...additions, model: '', messages: [] }).length;
}

/** How many markers a request has, and how long what the new one covers is to be kept. */
interface Marking {
  readonly markers: number;
  readonly ttl: Ttl;
}

/** A marker on the last block that may have one, where the request has one left. */
export function markLastBlock(request: MessagesRequest, { markers, ttl }: Marking): MessagesRequest {
  const { messages } = request;
  const at = messages.findLastIndex(({ content }) => asBlocks(content).some(isMarkable));
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

/** Upstreams refuse a marker on these. */
function isMarkable(block: ContentBlock): boolean {
  if (block.type === 'thinking' || block.type === 'redacted_thinking') return false;
  return block.type !== 'text' || block.text !== '';
}
