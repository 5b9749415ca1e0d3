import type { BlockOf, ContentBlock, TextBlock } from '@gw2api/gateway/plugin';
import type { Dropped } from './dropped.js';

/** Block that a block is sent as, and its path within that. */
export interface PlainBlock {
  readonly block: ContentBlock;
  readonly path: string;
}

/**
 * Blocks of a block for a format without documents of text and search results: texts with their titles, context and
 * sources. Citations, which a model would have to make, are reported.
 */
export function plainBlocks(block: ContentBlock, path: string, dropped: Dropped): readonly PlainBlock[] {
  if (block.type !== 'document' && block.type !== 'search_result') return [{ block, path: '' }];
  if (block.citations?.enabled) dropped.add(`${path}.citations`);
  if (block.type === 'document') return blocksOfDocument(block);
  const { title, source, content } = block;
  const heading = [title, source].filter(Boolean).join('\n');
  return [{ block: asText(block, [heading, ...content.map(({ text }) => text)]), path: '' }];
}

function blocksOfDocument(block: BlockOf<'document'>): readonly PlainBlock[] {
  const { source, title, context } = block;
  if (source.type === 'text') return [{ block: asText(block, [title, context, source.data]), path: '' }];
  if (source.type !== 'content') return [...textAt('.context', context), { block, path: '' }];
  const { content } = source;
  const contents =
    typeof content === 'string'
      ? textAt('.source.content', content)
      : content.map((each, at) => ({ block: each, path: `.source.content[${at}]` }));
  return [...textAt('.title', title), ...textAt('.context', context), ...contents];
}

function textAt(path: string, text: string | null | undefined): readonly PlainBlock[] {
  return text ? [{ block: { type: 'text', text }, path }] : [];
}

/** Paragraphs instead of a block, with its cache marker. */
function asText(
  { cache_control }: ContentBlock,
  paragraphs: readonly (string | null | undefined)[],
): TextBlock {
  const text = paragraphs.filter(Boolean).join('\n\n');
  return { type: 'text', text, ...(cache_control && { cache_control }) };
}
