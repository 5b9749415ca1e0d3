import type { EventStream, ModelEventBatch } from '../../../plugin/index.js';

/** Messages of a stream to its reader on the other side. */
export interface OutletTarget {
  batch(batch: ModelEventBatch): void;
  end(error?: unknown): void;
}

type Flow = ReturnType<EventStream['pipe']>;

/** Sends the batches of a stream to the other side, as many as that has asked for. */
export class EventOutlet {
  readonly #events: EventStream;
  readonly #target: OutletTarget;
  #flow: Flow | undefined;
  #asked = 0;
  #isOver = false;

  constructor(events: EventStream, target: OutletTarget) {
    this.#events = events;
    this.#target = target;
  }

  pull(count: number): void {
    if (this.#isOver) return;
    this.#asked += count;
    this.#flow ??= this.#events.pipe({
      write: (batch) => this.#write(batch),
      end: (error) => this.#end(error),
    });
    this.#flow.resume();
  }

  cancel(reason?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#flow) this.#flow.cancel(reason);
    else this.#events.cancel(reason);
  }

  #write(batch: ModelEventBatch): boolean {
    if (this.#isOver) return false;
    this.#asked -= 1;
    this.#target.batch(batch);
    return this.#asked > 0;
  }

  #end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#target.end(error);
  }
}
