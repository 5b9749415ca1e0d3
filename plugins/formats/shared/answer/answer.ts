import {
  mergeUsage,
  type ContentBlock,
  type EventOf,
  type MessagesResponse,
  type MessagesStreamEvent,
  type ModelEvent,
  type StopReason,
  type Usage,
} from '@gw2api/gateway/plugin';
import {
  cutStopReason,
  dispatch,
  type DispatchTable,
  errorFromEvent,
  type StopDetails,
} from '@gw2api/gateway/plugin/format';
import { type Block, OpenBlock, type Part } from './block.js';
import type { EventReader } from './relay.js';

/** Part factories by type of block; blocks without an entry are invisible. */
export type PartTable<Writer> = {
  readonly [Type in ContentBlock['type']]?: (
    block: Block<Extract<ContentBlock, { readonly type: Type }>>,
    writer: Writer,
  ) => Part | undefined;
};

/** End of an answer: stop reason, refusal and usage. */
export interface Ending {
  readonly stopReason: StopReason | null;
  /** The provider's explanation of a refusal. */
  readonly refusal?: string;
  /** True for a refusal in the model's own words, without a category of the provider: the answer is complete. */
  readonly isOwnRefusal?: true;
  readonly usage: Usage;
}

/** One answer in some dialect. */
export interface AnswerWriter {
  start(message: MessagesResponse): void;
  end(ending: Ending): void;
}

/**
 * Reader of one answer's events, which passes them to a dialect block by block. Handles the quirks of real
 * streams: blocks complete at their start or never closed, a whole message in its start event, a second
 * start, characters cut in half.
 */
export class AnswerReader implements EventReader {
  readonly #makePart: (block: Block) => Part | undefined;
  readonly #writer: AnswerWriter;
  readonly #open = new Map<number, OpenBlock>();
  #ending: Ending | undefined;
  #isComplete = false;
  /** True once a tool call has ended whose arguments are not complete JSON. */
  #hasCutCall = false;

  constructor(makePart: (block: Block) => Part | undefined, writer: AnswerWriter) {
    this.#makePart = makePart;
    this.#writer = writer;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /**
   * Adds one event; types that a translation ignores are not parsed. Throws the error of an `error` event.
   */
  add(event: ModelEvent): void {
    if (this.#isComplete) return;
    if (event.delta) this.#open.get(event.delta.index)?.say(event.delta);
    else if (Object.hasOwn(handlers, event.type)) dispatch(handlers, event.json, this);
  }

  /** @internal */
  start(message: MessagesResponse): void {
    if (this.#ending) return;
    this.#ending = {
      stopReason: message.stop_reason,
      ...refusalOf(message.stop_details),
      usage: mergeUsage(message.usage, undefined),
    };
    this.#writer.start(message);
    for (const start of message.content) this.#close(this.#begin(start), false);
  }

  /** @internal */
  openBlock({ index, content_block: start }: EventOf<'content_block_start'>): void {
    if (!this.#ending) return;
    this.#close(this.#open.get(index), true);
    this.#open.delete(index); // keeps the order in which the blocks began
    this.#open.set(index, this.#begin(start));
  }

  /** @internal */
  extendBlock({ index, delta }: EventOf<'content_block_delta'>): void {
    this.#open.get(index)?.extend(delta);
  }

  /** @internal */
  closeBlock(index: number): void {
    this.#close(this.#open.get(index), false);
    this.#open.delete(index);
  }

  /** @internal */
  finish({ delta, usage }: EventOf<'message_delta'>): void {
    if (!this.#ending) return;
    this.#ending = {
      ...this.#ending,
      ...refusalOf(delta.stop_details),
      stopReason: delta.stop_reason ?? this.#ending.stopReason,
      usage: mergeUsage(this.#ending.usage, usage),
    };
  }

  /** @internal */
  stop(): void {
    if (!this.#ending) return;
    const isCut = this.#ending.stopReason !== 'tool_use'; // with `tool_use`, calls are complete even without their end
    for (const block of this.#open.values()) this.#close(block, isCut);
    this.#isComplete = true;
    const { stopReason } = this.#ending;
    this.#writer.end({
      ...this.#ending,
      stopReason: this.#hasCutCall ? cutStopReason(stopReason) : stopReason,
    });
  }

  #close(block: OpenBlock | undefined, isCut: boolean): void {
    block?.close(isCut);
    this.#hasCutCall ||= block?.isCutCall ?? false;
  }

  #begin(start: ContentBlock): OpenBlock {
    const block = new OpenBlock(start);
    block.begin(this.#makePart(block));
    return block;
  }
}

/** Explanation of a refusal; its type is checked here, as the upstream's details are not validated before. */
function refusalOf(details: StopDetails | null | undefined): Pick<Ending, 'refusal' | 'isOwnRefusal'> {
  const explanation: unknown = details?.type === 'refusal' ? details.explanation : undefined;
  if (typeof explanation !== 'string' || explanation === '') return {};
  return { refusal: explanation, ...(details?.['category'] === null && { isOwnRefusal: true }) };
}

/** Looks up a dialect's part for a block. */
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
