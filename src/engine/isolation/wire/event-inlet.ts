import { EventStream, type ModelEventBatch } from '../../../plugin/index.js';
import { StreamController, type Flow } from '../../../plugin/raw/index.js';

/** Messages by which a reader controls its source. */
export interface InletSource {
  /** Asks for further batches. */
  pull(count: number): void;
  cancel(): void;
}

/** Batches of a stream of the other side: some are asked for ahead, never more. */
export class EventInlet implements Flow {
  readonly #source: InletSource;
  readonly #controller = new StreamController<ModelEventBatch>(this);
  readonly events = new EventStream(this.#controller);
  /** Batches that the reader has no room for yet. */
  readonly #held: ModelEventBatch[] = [];
  /** Batches asked for that have not come. */
  #expected = 0;
  #isFlowing = false;
  /** True once nothing more is read: the other side has ended, or the reader has left. */
  #isOver = false;
  #end: { readonly error: unknown } | undefined;

  constructor(source: InletSource) {
    this.#source = source;
  }

  resume(): void {
    this.#isFlowing = true;
    for (let batch; this.#isFlowing && (batch = this.#held.shift());)
      this.#isFlowing = this.#controller.write(batch);
    if (this.#isFlowing) this.#continue();
  }

  cancel(): void {
    this.#held.length = 0;
    if (this.#isOver) return;
    this.#isOver = true;
    this.#source.cancel();
  }

  /** Takes a batch. False: it was not asked for. */
  write(batch: ModelEventBatch): boolean {
    if (this.#isOver) return true;
    if (this.#expected === 0) return false;
    this.#expected -= 1;
    if (this.#isFlowing) this.#isFlowing = this.#controller.write(batch);
    else this.#held.push(batch);
    if (this.#isFlowing) this.#ask();
    return true;
  }

  /** Takes the end; with the error if the stream has failed. */
  end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#end = { error };
    if (this.#isFlowing) this.#continue();
  }

  #continue(): void {
    if (!this.#end) this.#ask();
    else if (this.#end.error === undefined) this.#controller.end();
    else this.#controller.fail(this.#end.error);
  }

  /** Keeps some batches under way: asks at first, and then for as many as have been read. */
  #ask(): void {
    if (this.#isOver) return;
    const missing = aheadOf - this.#held.length - this.#expected;
    if (missing * 2 < aheadOf) return;
    this.#expected += missing;
    this.#source.pull(missing);
  }
}

/** Number of batches on their way to a reader. */
const aheadOf = 8;
