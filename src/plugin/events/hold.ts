import { sizeBytes } from '../../kit/schema/units.js';
import type { MessagesResponse } from '../contract/messages.js';
import type { ModelReply } from '../contract/state.js';
import { ModelEvent, type ModelEventBatch } from './events.js';
import { MessageFold } from './fold.js';
import type { Transform } from './stream/stream-step.js';

export interface HoldOptions {
  /** Max size of what is held, in bytes or as `1mb` (default). */
  readonly max?: string | number;
}

/** Answer that was held, and its reply. */
export interface HeldReply {
  /** The whole answer, of the first choice; undefined if it is too large, has broken off, or is not valid. */
  readonly message: MessagesResponse | undefined;
  /** True if `message` is there: nothing of the answer has gone out so far. */
  readonly isWhole: boolean;
  /** The same reply, to be used in place of the given one: its events go out as they came. */
  readonly reply: ModelReply;
}

/**
 * Holds an answer until its end and folds it. Beyond `max`, and where it breaks off, `isWhole` is false, and the rest
 * streams on behind what was held. Throws a TypeError on an invalid `max`.
 */
export async function hold(reply: ModelReply, { max = '1mb' }: HoldOptions = {}): Promise<HeldReply> {
  const folding = new Folding(sizeBytes(max));
  const events = reply.events.through(folding);
  events.readAhead(() => folding.isHolding);
  const message = await folding.message;
  return { message, isWhole: message !== undefined, reply: { ...reply, events } };
}

/** Folds the events of an answer as they pass, up to a size. */
class Folding implements Transform {
  readonly message: Promise<MessagesResponse | undefined>;
  readonly #maxBytes: number;
  #fold: MessageFold | undefined = new MessageFold();
  #bytes = 0;
  #settle!: (message: MessagesResponse | undefined) => void; // by the promise, at once

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.message = new Promise((resolve) => (this.#settle = resolve));
  }

  /** False once there is a message, or there will be none. */
  get isHolding(): boolean {
    return this.#fold !== undefined;
  }

  transform(batch: ModelEventBatch): ModelEventBatch {
    if (this.#fold) this.#add(batch, this.#fold);
    return batch;
  }

  flush(): undefined {
    this.#end(this.#fold?.isStopped ? this.#fold.message() : undefined);
  }

  fail(): undefined {
    this.#end(undefined);
  }

  cancel(): void {
    this.#end(undefined);
  }

  #add(batch: ModelEventBatch, fold: MessageFold): void {
    this.#bytes += ModelEvent.heldBytes(batch);
    try {
      for (const event of batch) if (event.choice === 0) fold.add(event);
    } catch {
      this.#bytes = Infinity; // the reader of the reply gets the error where it stands
    }
    if (this.#bytes > this.#maxBytes) this.#end(undefined);
  }

  #end(message: MessagesResponse | undefined): void {
    this.#fold = undefined;
    this.#settle(message);
  }
}
