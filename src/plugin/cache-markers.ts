import type { CacheControl, MessagesRequest } from './contract/messages.js';

/** The most cache markers that an upstream takes in one request; a top-level one counts. */
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
 * A request with each cache marker replaced by what `change` makes of it. `change` is called in the order in which the
 * upstream reads the prompt: tools, system, messages (a block's own blocks before it), then the top-level marker, which
 * stands for the last block. What has no marker stays the same object.
 */
export function mapCacheMarkers(
  request: MessagesRequest,
  change: (marker: CacheControl) => CacheControl,
): MessagesRequest {
  const tools = remark(request.tools, change);
  const system = remark(request.system, change);
  const messages = remark(request.messages, change);
  const marker = request.cache_control ? change(request.cache_control) : request.cache_control;
  const isSame =
    tools === request.tools &&
    system === request.system &&
    messages === request.messages &&
    marker === request.cache_control;
  return isSame ? request : withChanged(request, { tools, system, messages, cache_control: marker });
}

/** Callers' bodies come through unchecked (wire-notes §1), so anything may stand anywhere. */
function remark<Part>(part: Part, change: (marker: CacheControl) => CacheControl): Part {
  if (typeof part !== 'object' || part === null) return part;
  // What comes back has the parts of what went in.
  if (Array.isArray(part)) return remarkList(part, change) as Part;
  const block = part as Readonly<Record<string, unknown>>; // an object, and only looked up by name
  // Where a block holds further blocks: a tool result's content, a document's source.
  const content = remark(block['content'], change);
  const source = remark(block['source'], change);
  const marker = block['cache_control'];
  const isMarker = typeof marker === 'object' && marker !== null;
  const changed = isMarker ? change(marker as CacheControl) : marker; // the upstream refuses any other object here
  if (content === block['content'] && source === block['source'] && changed === marker) return part;
  return withChanged(block, { content, source, cache_control: changed }) as Part;
}

function remarkList(
  list: readonly unknown[],
  change: (marker: CacheControl) => CacheControl,
): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let at = 0; at < list.length; at += 1) {
    const part = remark(list[at], change);
    if (part !== list[at]) (changed ??= [...list])[at] = part;
  }
  return changed ?? list;
}

/** A copy with those of the values that are others than it has. */
function withChanged<Fields extends object>(
  fields: Fields,
  values: Readonly<Record<string, unknown>>,
): Fields {
  const changed = { ...fields } as Record<string, unknown>; // only looked up by name
  for (const name in values) if (values[name] !== changed[name]) changed[name] = values[name];
  return changed as Fields; // it has the names that it had
}
