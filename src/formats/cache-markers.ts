import { Type, type Static } from 'typebox';
import type { CacheControl, ContentBlock, Message } from '../plugin/index.js';
import { nullable } from './body.js';

const cacheControl = Type.Object({
  type: Type.Literal('ephemeral'),
  ttl: Type.Optional(Type.Enum(['5m', '1h'])),
});

/** Fields of a content part that mark the end of a cacheable prefix: ours, and the other vendor's. */
export const markerFields = {
  cache_control: nullable(cacheControl),
  prompt_cache_breakpoint: nullable(Type.Object({ mode: Type.Optional(Type.String()) })),
};

const marked = Type.Object(markerFields);

/** `cache_control` of a part, to be spread into its block; empty where the part has no marker. */
export function markerOf(part: Static<typeof marked>): { readonly cache_control?: CacheControl } {
  if (part.cache_control) return { cache_control: part.cache_control };
  return part.prompt_cache_breakpoint ? { cache_control: { type: 'ephemeral' } } : {};
}

/** The upstream takes four markers in a request; other vendors take more and use the latest. `taken`: those before the messages. */
export function latestMarkers(messages: readonly Message[], taken: number): readonly Message[] {
  const marked = messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(hasMarker);
  const surplus = new Set(marked.slice(0, Math.max(0, marked.length + taken - 4)));
  if (surplus.size === 0) return messages;
  return messages.map((message) => {
    if (typeof message.content === 'string') return message;
    return {
      ...message,
      content: message.content.map((block) => (surplus.has(block) ? withoutMarker(block) : block)),
    };
  });
}

export function hasMarker({ cache_control }: { readonly cache_control?: unknown }): boolean {
  return cache_control !== undefined && cache_control !== null;
}

function withoutMarker(block: ContentBlock): ContentBlock {
  const { cache_control: _, ...rest } = block;
  return rest;
}
