import type { BlockOf, ContentBlock } from 'gw2api/plugin';

/** Block of a document, and its path within the document's. */
export interface DocumentPart {
  readonly block: ContentBlock;
  readonly path: string;
}

/**
 * Blocks of a document that is made of content blocks, its title as a text before them. Undefined for one
 * with another source.
 */
export function contentOfDocument({
  source,
  title,
}: BlockOf<'document'>): readonly DocumentPart[] | undefined {
  if (source.type !== 'content') return undefined;
  const { content } = source;
  const titles = title ? [{ block: textOf(title), path: '.title' }] : [];
  if (typeof content === 'string') return [...titles, { block: textOf(content), path: '.source.content' }];
  return [...titles, ...content.map((block, at) => ({ block, path: `.source.content[${at}]` }))];
}

function textOf(text: string): ContentBlock {
  return { type: 'text', text };
}
