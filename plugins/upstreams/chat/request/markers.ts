import { cacheMarkers, mapCacheMarkers, maxCacheMarkers, type MessagesRequest } from '@gw2api/gateway/plugin';
import type { CacheControl } from '@gw2api/gateway/plugin/upstream';
import type { Capabilities } from '../capabilities.js';
import type { ChatBody } from './chat-body.js';

/** Cache markers of a request on their way to a server. */
export interface Marking {
  readonly capabilities: Capabilities;
  /** Markers that are sent; others are reported. */
  readonly sentMarkers: Set<CacheControl>;
}

/** A text, a tool or a body with the marker of its origin, if the server takes markers. */
export function withMarker<Part extends object>(
  part: Part,
  marker: CacheControl | null | undefined,
  { capabilities, sentMarkers }: Marking,
): Part & { readonly cache_control?: CacheControl } {
  if (!marker || !capabilities.cacheControl) return part;
  sentMarkers.add(marker);
  return { ...part, cache_control: marker };
}

/** Body with its last markers, up to the limit of a request, at the same places as in a Messages request. */
export function withLastMarkers(body: ChatBody, { sentMarkers }: Marking): ChatBody {
  const request = body as object as MessagesRequest; // only its tools, messages and markers are looked up
  let surplus = cacheMarkers(request).length - maxCacheMarkers;
  if (surplus <= 0) return body;
  const marked: object = mapCacheMarkers(request, (marker) => {
    if (surplus === 0) return marker;
    surplus -= 1;
    sentMarkers.delete(marker);
    return undefined;
  });
  return marked as ChatBody; // markers alone were taken out
}
