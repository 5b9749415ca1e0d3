import { sealReasoning } from '../../shared/reasoning-envelope.js';
import type { Blocks } from '../../shared/blocks.js';
import { listOf, textOf, type Fields } from '../../shared/fields.js';
import { ReasoningDetails } from './reasoning-details.js';

/** Thinking of one answer, whose blocks are signed by an envelope of ours. */
export class Thinking {
  readonly #blocks: Blocks;
  readonly #vendor: string;
  readonly #details = new ReasoningDetails();
  /** True once thinking has come as text of its own, which its details repeat: with it, or at its end. */
  #isPlain = false;

  constructor(blocks: Blocks, vendor: string) {
    this.#blocks = blocks;
    this.#vendor = vendor;
  }

  /** Thinking in a delta, by whichever name; keeps its details, whose text counts where there is no other. */
  textOf({ reasoning_content: content, reasoning, reasoning_details: details }: Fields): string {
    const detailed = details === undefined || details === null ? '' : this.#details.add(listOf(details));
    const plain = textOf(content) || textOf(reasoning);
    this.#isPlain ||= plain !== '';
    return this.#isPlain ? plain : detailed;
  }

  add(text: string): void {
    if (this.#blocks.open !== 'thinking') this.#begin();
    this.#blocks.thinking(text);
  }

  /** Signs and ends an open block; details without a text get a block of their own. */
  close(): void {
    const isOpen = this.#blocks.open === 'thinking';
    if (!isOpen && this.#details.isEmpty) return;
    const data = this.#details.take();
    if (!isOpen) this.#begin();
    const signature = sealReasoning({ vendor: this.#vendor, ...(data && { data }) });
    this.#blocks.delta({ type: 'signature_delta', signature });
    this.#blocks.end();
  }

  #begin(): void {
    this.#blocks.begin({ type: 'thinking', thinking: '', signature: '' });
  }
}
