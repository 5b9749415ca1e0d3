import type { CacheControl, MessagesRequest } from './messages.js';

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
  const parts = ['tools', 'system', 'messages'].map((name) => [name, remark(request[name], change)] as const);
  const changed = parts.filter(([name, part]) => part !== request[name]);
  const top = request.cache_control;
  const marker = top ? change(top) : top;
  if (changed.length === 0 && marker === top) return request;
  return {
    ...request,
    ...Object.fromEntries(changed),
    ...(marker !== top && { cache_control: marker }),
  };
}

/** Where a block holds further blocks: a tool result's content, a document's source. */
const nesting = ['content', 'source'] as const;

/** Callers' bodies come through unchecked (wire-notes §1), so anything may stand anywhere. */
function remark(part: unknown, change: (marker: CacheControl) => CacheControl): unknown {
  if (Array.isArray(part)) return remarkList(part, change);
  if (typeof part !== 'object' || part === null) return part;
  const block = part as Readonly<Record<string, unknown>>; // an object, and only looked up by name
  const changes: Record<string, unknown> = {};
  for (const key of nesting) {
    const inner = remark(block[key], change);
    if (inner !== block[key]) changes[key] = inner;
  }
  const marker = block['cache_control'];
  if (typeof marker === 'object' && marker !== null) {
    const changed = change(marker as CacheControl); // the upstream refuses any other object here
    if (changed !== marker) changes['cache_control'] = changed;
  }
  return Object.keys(changes).length === 0 ? part : { ...block, ...changes };
}

function remarkList(
  list: readonly unknown[],
  change: (marker: CacheControl) => CacheControl,
): readonly unknown[] {
  const mapped = list.map((part) => remark(part, change));
  return mapped.every((part, at) => part === list[at]) ? list : mapped;
}
