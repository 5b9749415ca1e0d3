import type { CacheControl, MessagesRequest } from './contract/messages.js';

/** Max cache markers in one request to an upstream; a top-level one counts. */
export const maxCacheMarkers = 4;

/** Every cache marker of a request, in the order in which the upstream reads its prompt. */
export function cacheMarkers(request: MessagesRequest): readonly CacheControl[] {
  const markers: CacheControl[] = [];
  mapCacheMarkers(request, (marker) => {
    markers.push(marker);
    return marker;
  });
  return markers;
}

/**
 * Replaces each cache marker of a request by the result of `change`; parts without a marker stay the same
 * objects. Calls `change` in the order in which the upstream reads the prompt: tools, system, messages (the
 * inner blocks of a block before it), then the top-level marker, which stands for the last block.
 */
export function mapCacheMarkers(
  request: MessagesRequest,
  change: (marker: CacheControl) => CacheControl,
): MessagesRequest {
  const tools = mapMarkers(request.tools, change);
  const system = mapMarkers(request.system, change);
  const messages = mapMarkers(request.messages, change);
  const marker = request.cache_control ? change(request.cache_control) : request.cache_control;
  const isSame =
    tools === request.tools &&
    system === request.system &&
    messages === request.messages &&
    marker === request.cache_control;
  return isSame ? request : withChanged(request, { tools, system, messages, cache_control: marker });
}

/**
 * Replaces the markers within a part. Bodies of callers are not validated (wire-notes §1), so any field may
 * hold anything.
 */
function mapMarkers<Part>(part: Part, change: (marker: CacheControl) => CacheControl): Part {
  if (typeof part !== 'object' || part === null) return part;
  // The result has the same shape as the input.
  if (Array.isArray(part)) return mapMarkersInList(part, change) as Part;
  const block = part as Readonly<Record<string, unknown>>; // an object, and only looked up by name
  // Nested blocks: the content of a tool result, the source of a document.
  const content = mapMarkers(block['content'], change);
  const source = mapMarkers(block['source'], change);
  const marker = block['cache_control'];
  const isMarker = typeof marker === 'object' && marker !== null;
  const changed = isMarker ? change(marker as CacheControl) : marker; // the upstream refuses any other object here
  if (content === block['content'] && source === block['source'] && changed === marker) return part;
  return withChanged(block, { content, source, cache_control: changed }) as Part;
}

function mapMarkersInList(
  list: readonly unknown[],
  change: (marker: CacheControl) => CacheControl,
): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const part = mapMarkers(list[at], change);
    if (part !== list[at]) (changed ??= [...list])[at] = part;
  }
  return changed ?? list;
}

/** Copy of an object with the values that differ. */
function withChanged<Fields extends object>(
  fields: Fields,
  values: Readonly<Record<string, unknown>>,
): Fields {
  const changed = { ...fields } as Record<string, unknown>; // only looked up by name
  for (const name in values) if (values[name] !== changed[name]) changed[name] = values[name];
  return changed as Fields; // the keys are unchanged
}
