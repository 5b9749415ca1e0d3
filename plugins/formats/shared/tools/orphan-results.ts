import type { BlockOf, ContentBlock } from '@gw2api/gateway/plugin';

/** Results of a conversation whose calls are missing. */
export class OrphanResults {
  readonly #calls = new Set<string>();
  readonly #paths: string[] = [];

  /** Places of the results that were found. */
  get paths(): readonly string[] {
    return this.#paths;
  }

  /** Blocks of the next turn at `path`, with such results as text. */
  inWords(blocks: readonly ContentBlock[], path: string): readonly ContentBlock[] {
    for (const block of blocks) if (block.type === 'tool_use') this.#calls.add(block.id);
    if (!blocks.some((block) => this.#isOrphan(block))) return blocks;
    this.#paths.push(path);
    return blocks.flatMap((block) =>
      this.#isOrphan(block) ? orphanResult(block.tool_use_id, block.content ?? '') : [block],
    );
  }

  #isOrphan(block: ContentBlock): block is BlockOf<'tool_result'> {
    return block.type === 'tool_result' && !this.#calls.has(block.tool_use_id);
  }
}

/** Result without its call, as text of the user: every upstream refuses the original. */
export function orphanResult(
  name: string,
  result: string | readonly ContentBlock[],
): readonly ContentBlock[] {
  const blocks: readonly ContentBlock[] =
    typeof result === 'string' ? [{ type: 'text', text: result }] : result;
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const text = `Result of ${name}: ${texts.join('\n')}`;
  return [{ type: 'text', text }, ...blocks.filter(({ type }) => type !== 'text')];
}
