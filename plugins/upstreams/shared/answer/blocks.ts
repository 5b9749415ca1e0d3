import { ModelEvent, type ContentBlock, type Delta } from '@gw2api/gateway/plugin';

type DeltaOf = (text: string, logprobs?: readonly unknown[]) => Delta;

/** Writer of content blocks, one after another, as the events of a Messages stream. */
export class Blocks {
  /** Destination of the events; set again for each read. */
  events: ModelEvent[] = [];
  #index = -1;
  #open: ContentBlock['type'] | undefined;
  #length = 0;
  #half: { readonly text: string; readonly deltaOf: DeltaOf } | undefined;

  /** Type of the open block. */
  get open(): ContentBlock['type'] | undefined {
    return this.#open;
  }

  get isEmpty(): boolean {
    return this.#index === -1;
  }

  /** Number of characters written. */
  get length(): number {
    return this.#length;
  }

  begin(block: ContentBlock): void {
    this.end();
    this.#index += 1;
    this.#open = block.type;
    this.events.push(
      ModelEvent.of({ type: 'content_block_start', index: this.#index, content_block: block }),
    );
  }

  text(text: string, logprobs?: readonly unknown[]): void {
    this.#write(text, textDelta, logprobs);
  }

  thinking(thinking: string): void {
    this.#write(thinking, thinkingDelta);
  }

  json(json: string): void {
    this.#write(json, jsonDelta);
  }

  /** Writes a piece; a first half of a surrogate pair waits for its second half. */
  #write(piece: string, deltaOf: DeltaOf, logprobs?: readonly unknown[]): void {
    this.#length += piece.length;
    const text = this.#half === undefined ? piece : this.#half.text + piece;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#half = isHalf ? { text: text.slice(-1), deltaOf } : undefined;
    const ready = isHalf ? text.slice(0, -1) : text;
    if (ready === '' && isHalf && !logprobs) return;
    this.delta(deltaOf(ready, logprobs));
  }

  delta(delta: Delta): void {
    this.events.push(ModelEvent.of({ type: 'content_block_delta', index: this.#index, delta }));
  }

  end(): void {
    if (this.#open === undefined) return;
    if (this.#half) this.delta(this.#half.deltaOf(this.#half.text));
    this.#half = undefined;
    this.#open = undefined;
    this.events.push(ModelEvent.of({ type: 'content_block_stop', index: this.#index }));
  }
}

const textDelta: DeltaOf = (text, logprobs) => ({ type: 'text_delta', text, ...(logprobs && { logprobs }) });
const thinkingDelta: DeltaOf = (thinking) => ({ type: 'thinking_delta', thinking });
const jsonDelta: DeltaOf = (partial_json) => ({ type: 'input_json_delta', partial_json });
