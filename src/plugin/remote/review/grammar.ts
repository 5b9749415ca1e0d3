import type { ContentBlock, Delta } from '../../contract/messages.js';
import type { ModelEvent } from '../../events/events.js';

/** Grammar of the events of one answer. */
export class AnswerGrammar {
  #open: Map<number, ContentBlock['type'] | undefined> = new Map();
  #hasStarted = false;
  #nextIndex = 0;
  #hasEnd = false;
  #hasStopped = false;

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** Indices of the open blocks. */
  get openBlocks(): readonly number[] {
    return [...this.#open.keys()];
  }

  /** Index of the next block. */
  get nextIndex(): number {
    return this.#nextIndex;
  }

  copy(): AnswerGrammar {
    const copy = new AnswerGrammar();
    copy.#open = new Map(this.#open);
    copy.#hasStarted = this.#hasStarted;
    copy.#nextIndex = this.#nextIndex;
    copy.#hasEnd = this.#hasEnd;
    copy.#hasStopped = this.#hasStopped;
    return copy;
  }

  /** Adds an event; returns its fault, if it may not stand here. Events of unknown types may stand anywhere. */
  add(event: ModelEvent): string | undefined {
    if (this.#hasStopped) return `${event.type} stands behind message_stop`;
    if (!this.#hasStarted && event.type !== 'message_start' && event.type !== 'ping')
      return `${event.type} stands before message_start`;
    const { delta } = event;
    if (delta) return this.#extend(delta.index, 'text_delta');
    return this.#addParsed(event);
  }

  #addParsed({ json }: ModelEvent): string | undefined {
    if (json.type === 'message_start') return this.#start();
    if (json.type === 'content_block_start') return this.#begin(json.index, json.content_block.type);
    if (json.type === 'content_block_delta') return this.#extend(json.index, json.delta.type);
    if (json.type === 'content_block_stop')
      return this.#open.delete(json.index) ? undefined : `block ${json.index} is not open`;
    if (json.type === 'message_delta') return this.#end();
    return json.type === 'message_stop' ? this.#stop() : undefined;
  }

  #start(): string | undefined {
    if (this.#hasStarted) return 'message_start stands twice';
    this.#hasStarted = true;
    return undefined;
  }

  #begin(index: number, type: ContentBlock['type']): string | undefined {
    if (index < this.#nextIndex) return `block ${index} starts twice`;
    this.#nextIndex = index + 1;
    this.#open.set(index, type);
    if (this.#open.size > maxOpen) return `more than ${maxOpen} blocks are open`;
    return this.#hasEnd ? `block ${index} starts behind message_delta` : undefined;
  }

  #extend(index: number, delta: Delta['type']): string | undefined {
    if (!this.#open.has(index)) return `block ${index} is not open`;
    const type = this.#open.get(index);
    const takes: readonly string[] | undefined = type === undefined ? undefined : deltasOf[type];
    return !takes || takes.includes(delta) ? undefined : `a ${type} block takes no ${delta}`;
  }

  #end(): string | undefined {
    this.#hasEnd = true;
    const [open] = this.#open.keys();
    return open === undefined ? undefined : `block ${open} is open at message_delta`;
  }

  #stop(): string | undefined {
    this.#hasStopped = true;
    return this.#hasEnd ? undefined : 'message_stop has no message_delta before it';
  }
}

/** Max number of blocks that are open at a time. */
const maxOpen = 1000;

/** Types of deltas by those of their blocks; other blocks take any. */
const deltasOf: Readonly<Partial<Record<string, readonly string[]>>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
};
