import type { Static } from 'typebox';
import {
  cacheMarkers,
  maxCacheMarkers,
  Type,
  type ContentBlock,
  type MessagesRequest,
} from '@gw2api/gateway/plugin';
import type { CacheControl } from '@gw2api/gateway/plugin/format';
import { nullable } from './body.js';

const cacheControl = Type.Object({
  type: Type.Literal('ephemeral'),
  ttl: nullable(Type.Enum(['5m', '1h'])),
});

/** Fields of a content part that mark the end of a cacheable prefix: ours, and the other vendor's. */
export const markerFields = {
  cache_control: nullable(cacheControl),
  prompt_cache_breakpoint: nullable(Type.Object({ mode: nullable(Type.String()) })),
};

export const marked = Type.Object(markerFields);

/** Part, tool or message of a caller that may have a marker. */
export type Marked = Static<typeof marked>;

/** `cache_control` of a part, to be spread into its block; empty if the part has no marker. */
export function markerOf(part: Marked): { readonly cache_control?: CacheControl } {
  const { cache_control: marker, prompt_cache_breakpoint: breakpoint } = part;
  if (!marker) return breakpoint ? { cache_control: { type: 'ephemeral' } } : {};
  const { ttl, ...rest } = marker;
  return { cache_control: ttl ? { ...rest, ttl } : rest };
}

/** Field in which a part has its marker; undefined without one. */
export function markerField(part: Static<typeof marked>): keyof typeof markerFields | undefined {
  if (part.cache_control) return 'cache_control';
  return part.prompt_cache_breakpoint ? 'prompt_cache_breakpoint' : undefined;
}

/**
 * Keeps only as many cache markers as the upstream takes, the latest ones, as other vendors do. Those of
 * tools and system, and those within blocks, are never dropped.
 */
export function latestMarkers(request: MessagesRequest): MessagesRequest {
  const surplus = cacheMarkers(request).length - maxCacheMarkers;
  if (surplus <= 0) return request;
  const blocks = request.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const dropped = new Set(blocks.filter((block) => block.cache_control).slice(0, surplus));
  const messages = request.messages.map((message) => {
    if (typeof message.content === 'string') return message;
    return {
      ...message,
      content: message.content.map((block) => (dropped.has(block) ? unmark(block) : block)),
    };
  });
  return { ...request, messages };
}

function unmark(block: ContentBlock): ContentBlock {
  const { cache_control: _, ...rest } = block;
  return rest;
}
