import { ModelEvent, type ContentBlock, type Delta } from 'gw2api/plugin';

/** Writer of content blocks, one after the other, as the events of a Messages stream. */
export class Blocks {
  /** Destination of the events; set anew for each read. */
  events: ModelEvent[] = [];
  #index = -1;
  #open: ContentBlock['type'] | undefined;
  #length = 0;

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
    this.#length += text.length;
    this.delta({ type: 'text_delta', text, ...(logprobs && { logprobs }) });
  }

  thinking(thinking: string): void {
    this.#length += thinking.length;
    this.delta({ type: 'thinking_delta', thinking });
  }

  json(json: string): void {
    this.#length += json.length;
    this.delta({ type: 'input_json_delta', partial_json: json });
  }

  delta(delta: Delta): void {
    this.events.push(ModelEvent.of({ type: 'content_block_delta', index: this.#index, delta }));
  }

  end(): void {
    if (this.#open === undefined) return;
    this.#open = undefined;
    this.events.push(ModelEvent.of({ type: 'content_block_stop', index: this.#index }));
  }
}
