import type { CacheControl, ContentBlock, Message, MessagesRequest } from '../contract/messages.js';
import { withFields } from '../raw/with-fields.js';

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

/** Replacement of a marker; undefined removes it. */
type Change = (marker: CacheControl) => CacheControl | undefined;

/**
 * Replaces each cache marker of a request by the result of `change`; parts without a marker stay the same
 * objects. Calls `change` in the order in which the upstream reads the prompt: tools, system, messages (the
 * inner blocks of a block before it), then the top-level marker, which stands for the last block.
 */
export function mapCacheMarkers(request: MessagesRequest, change: Change): MessagesRequest {
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
 * Replaces the markers within a part. Bodies of callers are not validated, so any field may
 * hold anything.
 */
function mapMarkers<Part>(part: Part, change: Change): Part {
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

function mapMarkersInList(list: readonly unknown[], change: Change): readonly unknown[] {
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

/**
 * Adds a marker to the last suitable block of the messages; the request itself if that has one, or the request has the
 * max number. Late system text gets none, as it may be moved into the turn before; `markers`: number of the request's
 * markers.
 */
export function markLastBlock(
  request: MessagesRequest,
  marker: CacheControl,
  markers = cacheMarkers(request).length,
): MessagesRequest {
  const { messages } = request;
  const at = messages.findLastIndex(
    (message: Message | null) => message?.role !== 'system' && blocksOf(message).some(isMarkable),
  );
  const message = messages[at];
  if (!message || markers >= maxCacheMarkers) return request;
  const blocks = blocksOf(message);
  const last = blocks.findLastIndex(isMarkable);
  const block = blocks[last];
  if (!block || block.cache_control) return request;
  const content = blocks.with(last, withFields(block, { cache_control: marker }));
  return { ...request, messages: messages.with(at, { ...message, content }) };
}

/** Blocks of a message, which is not validated. */
function blocksOf(message: Message | null): readonly ContentBlock[] {
  const content = message?.content;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? (content as readonly ContentBlock[]) : [];
}

/** False for blocks on which upstreams refuse a marker. */
function isMarkable(block: ContentBlock | null): boolean {
  if (block === null || block.type === 'thinking' || block.type === 'redacted_thinking') return false;
  return block.type !== 'text' || block.text !== '';
}
