import {
  cacheMarkers,
  definePlugin,
  headerChoice,
  mapCacheMarkers,
  markLastBlock,
  Type,
  withFields,
  type Additions,
  type MessagesRequest,
} from '@gw2api/gateway/plugin';
import type { CacheControl } from '@gw2api/gateway/plugin/upstream';

type Ttl = '5m' | '1h';

/** Sets the lifetime of the upstream's prompt cache. */
export default definePlugin({
  name: 'cache-ttl',
  api: 1,
  requires: ['request'],
  provides: ['request', 'additions'],
  options: Type.Object({
    ttl: Type.Union([Type.Literal('5m'), Type.Literal('1h')], {
      default: '1h',
      description: '5m | 1h, for markers without a lifetime of their own.',
    }),
    auto: Type.Boolean({
      default: true,
      description: 'Mark the last block of requests in formats without cache markers.',
    }),
  }),
  setup({ ttl, auto }, host) {
    host.announce({ cache_ttl_seconds: ttl === '5m' ? 300 : 3600 });
    return function cacheTtl(ctx, next) {
      const { state } = ctx;
      const forced = headerChoice(ctx.headers, 'x-gw-cache-ttl', ['5m']);
      const markers = cacheMarkers(state.request).length;
      const added = new Map(state.additions.markers);
      const before = state.request;
      const isMute =
        auto && !host.formats.get(state.format).keepsBytes && !hasOwnMarkers(markers, state.additions);
      const request = isMute ? marked(before, markers, { ttl: forced ?? ttl, added }) : before;
      // A marker that was added just now already has its ttl.
      state.request = markers > 0 ? withTtl(request, ttl, { forced, added }) : request;
      if (state.request !== before) state.additions = withFields(state.additions, { markers: added });
      return next();
    };
  },
});

interface Setting {
  readonly forced?: Ttl | undefined;
  /** Receives the changed markers. */
  readonly added?: Map<CacheControl, 'marker' | 'ttl'>;
}

/**
 * Sets the ttl of each marker: 5m if forced, else its own, else `ttl`. After a 5m marker all are 5m, since
 * the upstream refuses 1h after 5m.
 */
export function withTtl(
  request: MessagesRequest,
  ttl: Ttl,
  { forced, added }: Setting = {},
): MessagesRequest {
  let isShort = forced === '5m';
  return mapCacheMarkers(request, (marker) => {
    const wanted = isShort ? '5m' : (marker.ttl ?? ttl);
    isShort ||= wanted === '5m';
    if (marker.ttl === wanted) return marker;
    const changed = withFields(marker, { ttl: wanted });
    added?.set(changed, added.get(marker) ?? 'ttl');
    return changed;
  });
}

function marked(
  request: MessagesRequest,
  markers: number,
  { ttl, added }: Required<Pick<Setting, 'added'>> & { readonly ttl: Ttl },
): MessagesRequest {
  const marker: CacheControl = { type: 'ephemeral', ttl };
  added.set(marker, 'marker');
  return markLastBlock(request, marker, markers);
}

/** True if the caller set cache markers itself; those of the gateway's additions do not count. */
function hasOwnMarkers(all: number, additions: Additions): boolean {
  return all > 0 && all > cacheMarkers({ ...additions, model: '', messages: [] }).length;
}
