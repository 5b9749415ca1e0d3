import type { BlockOf, ContentBlock } from '../contract/messages.js';

/**
 * Results of a conversation with several for a call, as clients resend them after a lost connection: the last one
 * counts, in the place of the first. Blocks are compared by identity.
 */
export class LastResults {
  /** Last result of a call, by the one that it replaces. */
  readonly #replaced = new Map<ContentBlock, ContentBlock>();
  readonly #moved = new Set<ContentBlock>();

  /**
   * Finds the last results; undefined if no call has several. Several calls may share an id, and have a result each.
   */
  static of(contents: readonly (string | readonly ContentBlock[])[]): LastResults | undefined {
    const results = new LastResults();
    const calls = new Map<string, Call>();
    for (const blocks of contents)
      if (typeof blocks !== 'string') for (const block of blocks) results.#read(block, calls);
    return results.#moved.size === 0 ? undefined : results;
  }

  /** Results that a later one replaces. */
  get replaced(): Iterable<ContentBlock> {
    return this.#replaced.keys();
  }

  isReplaced(block: ContentBlock): boolean {
    return this.#replaced.has(block);
  }

  /** Block that is sent instead of `block`; undefined for a result that is sent elsewhere. */
  sent(block: ContentBlock): ContentBlock | undefined {
    return this.#replaced.get(block) ?? (this.#moved.has(block) ? undefined : block);
  }

  #read(block: ContentBlock, calls: Map<string, Call>): void {
    if (block.type === 'tool_use') {
      const call = calls.get(block.id);
      if (call) call.open += 1;
      else calls.set(block.id, { open: 1, result: undefined });
    } else if (block.type === 'tool_result') {
      const call = calls.get(block.tool_use_id);
      if (call) this.#answer(call, block);
    }
  }

  #answer(call: Call, block: BlockOf<'tool_result'>): void {
    if (call.open > 0) {
      call.open -= 1;
      call.result = block;
    } else if (call.result) {
      this.#moved.add(block);
      this.#replaced.set(call.result, block);
    }
  }
}

/** Calls of one id: the number of those that wait for their result, and the first result. */
interface Call {
  open: number;
  result: ContentBlock | undefined;
}
