import {
  type Citation,
  type ContentBlock,
  type ContentBlockDeltaEvent,
  type ContentBlockStartEvent,
  type Delta,
  dispatch,
  type DispatchTable,
  errorFromEvent,
  mergeUsage,
  type MessageDeltaEvent,
  type MessagesResponse,
  type MessagesStreamEvent,
  type ModelEvent,
  type StopReason,
  type Usage,
} from '../plugin/index.js';
import type { EventReader } from './relay.js';

/** One content block while it arrives. */
export interface Block<Start extends ContentBlock = ContentBlock> {
  /** As it began. */
  readonly start: Start;
  /** Text, thinking, or the JSON of a tool's input, as far as it came. */
  readonly text: string;
  readonly signature: string;
  readonly citations: readonly Citation[];
  /** The answer ended within this block. */
  readonly isCut: boolean;
}

/** What a dialect makes of one block. */
export interface Part {
  /** More of `text`; a surrogate pair is never divided between two calls. */
  write?(text: string): void;
  /** The block is complete, or is cut. */
  close?(): void;
}

/** For each type of block that the dialect shows, what becomes of one; the others are invisible. */
export type PartTable<Writer> = {
  readonly [Type in ContentBlock['type']]?: (
    block: Block<Extract<ContentBlock, { readonly type: Type }>>,
    writer: Writer,
  ) => Part | undefined;
};

/** How an answer ended. */
export interface Ending {
  readonly stopReason: StopReason | null;
  readonly usage: Usage;
}

/** One answer in some dialect. */
export interface AnswerWriter {
  start(message: MessagesResponse): void;
  end(ending: Ending): void;
}

/**
 * Reads the events of one answer and tells a dialect what they say, block by block. It is here that the ways of real
 * streams end: blocks that are complete when they begin or are never closed, a message that arrives whole in its start
 * event, a second start, characters cut in half.
 */
export class AnswerReader implements EventReader {
  readonly #makePart: (block: Block) => Part | undefined;
  readonly #writer: AnswerWriter;
  readonly #open = new Map<number, OpenBlock>();
  #ending: Ending | undefined;
  #isComplete = false;

  constructor(makePart: (block: Block) => Part | undefined, writer: AnswerWriter) {
    this.#makePart = makePart;
    this.#writer = writer;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Types that say nothing to a translation are never parsed. Throws what an `error` event says. */
  add(event: ModelEvent): void {
    if (this.#isComplete || !Object.hasOwn(handlers, event.type)) return;
    dispatch(handlers, event.json, this);
  }

  /** @internal */
  start(message: MessagesResponse): void {
    if (this.#ending) return;
    this.#ending = { stopReason: message.stop_reason, usage: mergeUsage(message.usage, undefined) };
    this.#writer.start(message);
    for (const start of message.content) this.#begin(start).close(false);
  }

  /** @internal */
  openBlock({ index, content_block: start }: ContentBlockStartEvent): void {
    if (!this.#ending) return;
    this.#open.get(index)?.close(true);
    this.#open.delete(index); // so that the order stays that of the beginnings
    this.#open.set(index, this.#begin(start));
  }

  /** @internal */
  extendBlock({ index, delta }: ContentBlockDeltaEvent): void {
    const block = this.#open.get(index);
    const text = block && dispatch(deltas, delta, block);
    if (text) block.write(text);
  }

  /** @internal */
  closeBlock(index: number): void {
    this.#open.get(index)?.close(false);
    this.#open.delete(index);
  }

  /** @internal */
  finish({ delta, usage }: MessageDeltaEvent): void {
    if (!this.#ending) return;
    this.#ending = {
      stopReason: delta.stop_reason ?? this.#ending.stopReason,
      usage: mergeUsage(this.#ending.usage, usage),
    };
  }

  /** @internal */
  stop(): void {
    if (!this.#ending) return;
    for (const block of this.#open.values()) block.close(true);
    this.#isComplete = true;
    this.#writer.end(this.#ending);
  }

  #begin(start: ContentBlock): OpenBlock {
    const block = new OpenBlock(start);
    block.part = this.#makePart(block);
    const text = dispatch(beginnings, start, undefined);
    if (text) block.write(text);
    return block;
  }
}

/** Looks up what a dialect makes of a block. */
export function partMaker<Writer>(
  table: PartTable<Writer>,
  writer: Writer,
): (block: Block) => Part | undefined {
  return (block) => {
    const { type } = block.start;
    if (!Object.hasOwn(table, type)) return undefined;
    // The entry of this type takes exactly a block of it, which TypeScript cannot correlate.
    const make = table[type] as ((block: Block, writer: Writer) => Part | undefined) | undefined;
    return make?.(block, writer);
  };
}

class OpenBlock implements Block {
  readonly start: ContentBlock;
  text = '';
  signature: string;
  citations: readonly Citation[];
  isCut = false;
  part: Part | undefined;
  #half = '';

  constructor(start: ContentBlock) {
    this.start = start;
    this.signature = typeof start['signature'] === 'string' ? start['signature'] : '';
    this.citations = start.type === 'text' ? (start.citations ?? []) : [];
  }

  /** A first half of a surrogate pair waits for its second half. */
  write(text: string): void {
    this.text += text;
    const whole = this.#half + text;
    this.#half = endsInHalf(whole) ? whole.slice(-1) : '';
    const ready = this.#half === '' ? whole : whole.slice(0, -1);
    if (ready !== '') this.part?.write?.(ready);
  }

  close(isCut: boolean): void {
    this.isCut = isCut;
    if (this.text === '' && 'input' in this.start) this.write(JSON.stringify(this.start.input));
    if (this.#half !== '') this.part?.write?.(this.#half);
    this.part?.close?.();
  }
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

const handlers: Partial<DispatchTable<MessagesStreamEvent, AnswerReader, void>> = {
  message_start: (event, reader) => reader.start(event.message),
  content_block_start: (event, reader) => reader.openBlock(event),
  content_block_delta: (event, reader) => reader.extendBlock(event),
  content_block_stop: (event, reader) => reader.closeBlock(event.index),
  message_delta: (event, reader) => reader.finish(event),
  message_stop: (_, reader) => reader.stop(),
  error: (event) => {
    throw errorFromEvent(event);
  },
};

/** The text that a block begins with. */
const beginnings: Partial<DispatchTable<ContentBlock, undefined, string>> = {
  text: ({ text }) => text,
  thinking: ({ thinking }) => thinking,
};

/** The text that a delta adds; others add to the block beside its text. */
const deltas: Partial<DispatchTable<Delta, OpenBlock, string | undefined>> = {
  text_delta: ({ text }) => text,
  thinking_delta: ({ thinking }) => thinking,
  input_json_delta: ({ partial_json }) => partial_json,
  signature_delta: ({ signature }, block) => {
    block.signature += signature;
    return undefined;
  },
  citations_delta: ({ citation }, block) => {
    block.citations = [...block.citations, citation];
    return undefined;
  },
};
