import { cacheMarkers, mapCacheMarkers, type MessagesRequest, type SlotCall } from '@gw2api/gateway/plugin';
import type { CacheControl } from '@gw2api/gateway/plugin/upstream';

type Fields = Readonly<Record<string, unknown>>;

/** True if the gateway has added or translated the marker, or with `ttl` its lifetime; others are the caller's. */
function isOwnMarker(
  marker: CacheControl,
  part: 'marker' | 'ttl',
  { addedMarkers, isTranslated }: SlotCall,
): boolean {
  if (part === 'ttl' && marker.ttl === undefined) return false;
  const added = addedMarkers?.get(marker);
  return isTranslated === true || added === 'marker' || (added !== undefined && part === 'ttl');
}

/** True if a request has a marker of the gateway, or with `ttl` a lifetime. */
export function hasOwnMarker(call: SlotCall, part: 'marker' | 'ttl'): boolean {
  return cacheMarkers(call.request).some((marker) => isOwnMarker(marker, part, call));
}

/** The request without markers of the gateway, or with `ttl` without the lifetimes that it has given. */
export function withoutOwnMarkers(
  request: MessagesRequest,
  part: 'marker' | 'ttl',
  call: SlotCall,
): MessagesRequest {
  return mapCacheMarkers(request, (marker) => {
    if (!isOwnMarker(marker, part, call)) return marker;
    return part === 'marker' ? undefined : without(marker, 'ttl');
  });
}

/** The request without a field of its markers, and the paths of those that had it. */
export function withoutMarkerField(
  request: MessagesRequest,
  field: string,
): { readonly request: MessagesRequest; readonly paths: readonly string[] } {
  const paths: string[] = [];
  for (const part of ['tools', 'system', 'messages', 'cache_control'])
    addPaths(part === 'cache_control' ? { [part]: request[part] } : request[part], part, { field, paths });
  if (paths.length === 0) return { request, paths };
  return { request: mapCacheMarkers(request, (marker) => without(marker, field)), paths };
}

interface Search {
  readonly field: string;
  readonly paths: string[];
}

/** Adds the places of a field in the markers of a part, as `mapCacheMarkers` finds them. */
function addPaths(part: unknown, path: string, search: Search): void {
  if (typeof part !== 'object' || part === null) return;
  if (Array.isArray(part)) {
    part.forEach((each, at) => addPaths(each, `${path}[${at}]`, search));
    return;
  }
  const { cache_control: marker, content, source } = part as Fields; // an object, and only looked up by name
  const place = path === 'cache_control' ? path : `${path}.cache_control`;
  if (typeof marker === 'object' && marker !== null && search.field in marker)
    search.paths.push(`${place}.${search.field}`);
  addPaths(content, `${path}.content`, search);
  addPaths(source, `${path}.source`, search);
}

function without(marker: CacheControl, field: string): CacheControl {
  if (!(field in marker)) return marker;
  const { type, ...others } = marker;
  const kept = Object.entries(others).filter(([name]) => name !== field);
  return { type, ...Object.fromEntries(kept) };
}
