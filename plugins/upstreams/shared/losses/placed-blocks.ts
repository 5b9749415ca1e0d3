import type { ContentBlock } from '@gw2api/gateway/plugin';
import type { LastResults } from '@gw2api/gateway/plugin/format';
import type { Dropped } from './dropped.js';

/** Block of a message, and its index among the original ones. */
export interface PlacedBlock {
  readonly block: ContentBlock;
  readonly at: number;
}

/**
 * Blocks of a message at `path` with one result for each call, the last one in the place of the first, which is
 * reported: other formats than Messages refuse the rest.
 */
export function placedBlocks(
  blocks: readonly ContentBlock[],
  path: string,
  { results, dropped }: { readonly results: LastResults | undefined; readonly dropped: Dropped },
): readonly PlacedBlock[] {
  if (!results) return blocks.map((block, at) => ({ block, at }));
  return blocks.flatMap((given, at) => {
    if (results.isReplaced(given)) dropped.add(`${path}[${at}]`, 'content');
    const block = results.sent(given);
    return block ? [{ block, at }] : [];
  });
}

/** Path to report for a last assistant message at `path` that is answered instead of continued. */
export function prefillPath(path: string): string {
  return `${path}.prefix`;
}
