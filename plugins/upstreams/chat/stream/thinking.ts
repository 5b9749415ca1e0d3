import { sealReasoning } from '../../shared/reasoning-envelope.js';
import type { Blocks } from '../../shared/answer/blocks.js';
import { listOf, textOf, type Fields, fieldsOf } from '../../shared/fields.js';

/** Thinking of one answer, whose blocks are signed by an envelope of the gateway. */
export class Thinking {
  readonly #blocks: Blocks;
  readonly #vendor: string;
  readonly #details = new ReasoningDetails();
  /** True once thinking has arrived as separate text, which its details repeat: with it, or at its end. */
  #isPlain = false;

  constructor(blocks: Blocks, vendor: string) {
    this.#blocks = blocks;
    this.#vendor = vendor;
  }

  /** Thinking in a delta, under any of its names; keeps its details, whose text counts if there is no other. */
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

/** Entries of `reasoning_details`, reassembled from their pieces so that they can be sent back unchanged. */
class ReasoningDetails {
  #details: Record<string, unknown>[] = [];
  #length = 0;

  /** Adds the pieces of a delta and returns their text. */
  add(list: unknown): string {
    let text = '';
    for (const entry of listOf(list)) {
      const piece = plainFields(entry);
      text += textOf(piece['text']) + textOf(piece['summary']);
      this.#keep(piece);
    }
    return text;
  }

  /** True if no entry has a text, data or a signature. */
  get isEmpty(): boolean {
    return !this.#details.some(({ text, summary, data, signature }) =>
      Boolean(text || summary || data || signature),
    );
  }

  /** Returns and clears the entries so far; undefined if there are none, or too many to send back. */
  take(): readonly Fields[] | undefined {
    const details = this.#details;
    const isTooLong = this.#length > maxLength;
    this.#details = [];
    this.#length = 0;
    return details.length === 0 || isTooLong ? undefined : details;
  }

  #keep(piece: Fields): void {
    this.#length += lengthOf(piece);
    if (this.#length > maxLength) this.#details = this.#details.slice(0, 1);
    else if (!this.#extend(piece)) this.#details.push({ ...piece });
  }

  /** Appends a piece to the last entry, if it is one of it: of the same type and index, and no encrypted data. */
  #extend(piece: Fields): boolean {
    const last = this.#details.at(-1);
    const isSame = last && last['type'] === piece['type'] && last['index'] === piece['index'];
    if (!isSame || piece['type'] === 'reasoning.encrypted') return false;
    for (const [field, value] of Object.entries(piece)) {
      if (value === null || value === undefined) continue;
      const isGrowing = field === 'text' || field === 'summary';
      last[field] = isGrowing ? textOf(last[field]) + textOf(value) : value || last[field];
    }
    return true;
  }
}

/** Max length of the entries, well below that of an envelope. */
const maxLength = 2 * 1024 * 1024;

/** Fields that are neither lists nor objects, which vendors send and whose length is known. */
function plainFields(entry: unknown): Fields {
  return Object.fromEntries(
    Object.entries(fieldsOf(entry)).filter(([, value]) => typeof value !== 'object' || value === null),
  );
}

function lengthOf(piece: Fields): number {
  return 100 + Object.values(piece).reduce<number>((sum, value) => sum + textOf(value).length, 0);
}
