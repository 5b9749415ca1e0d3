import type { ModelEventBatch } from '../../events/events.js';
import type { EventStream } from '../../events/stream/event-stream.js';
import type { Transform } from '../../events/stream/stream-step.js';
import type { Flow, Pipe, Sink } from '../../events/stream/stream-controller.js';
import { Review, type Reviewer, type ReviewOptions } from './review.js';

export interface ObserveOptions extends ReviewOptions {
  /** Called if so many events wait for the reviewer that it is given no more. */
  readonly onOverflow: () => void;
}

/** The events of an answer, which pass on at once, while a reviewer is given copies of them in chunks. */
export function observed(events: EventStream, review: Reviewer, options: ObserveOptions): EventStream {
  return events.through(new Copies(review, options));
}

class Copies implements Transform, Pipe<ModelEventBatch>, Flow {
  readonly #onOverflow: () => void;
  readonly #review: Review;
  #sink: Sink<ModelEventBatch> | undefined;
  #hasRoom = true;

  constructor(review: Reviewer, { onOverflow, ...options }: ObserveOptions) {
    this.#onOverflow = onOverflow;
    this.#review = new Review(this, review, options);
    this.#review.controller.pipe(nowhere).resume();
  }

  pipe(sink: Sink<ModelEventBatch>): Flow {
    this.#sink = sink;
    return this;
  }

  resume(): void {
    this.#hasRoom = true;
  }

  transform(batch: ModelEventBatch): ModelEventBatch {
    if (this.#hasRoom) this.#hasRoom = this.#sink?.write(batch) ?? false;
    else if (this.#sink) {
      this.#onOverflow();
      this.cancel();
      this.#review.cancel();
    }
    return batch;
  }

  flush(): undefined {
    this.#sink?.end();
  }

  fail(error: unknown): undefined {
    this.#sink?.end(error);
  }

  cancel(): void {
    this.#sink = undefined;
  }
}

const nowhere: Sink<ModelEventBatch> = { write: () => true, end: () => undefined };
