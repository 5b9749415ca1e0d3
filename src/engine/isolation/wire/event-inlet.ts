/** Messages by which a reader controls its source. */
export interface InletSource {
  /** Asks for further values. */
  pull(count: number): void;
  cancel(): void;
}

/** Values of a stream of the other side, as an iterator: some are asked for ahead, never more. */
export class EventInlet<Value> implements AsyncIterableIterator<Value, undefined> {
  readonly #source: InletSource;
  readonly #values: Value[] = [];
  #read:
    | { resolve(result: IteratorResult<Value, undefined>): void; reject(error: unknown): void }
    | undefined;
  #ended: { error: unknown } | undefined;
  /** Values asked for that have not come. */
  #expected = 0;

  constructor(source: InletSource) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Value, undefined>> {
    this.#ask();
    return new Promise((resolve, reject) => {
      this.#read = { resolve, reject };
      this.#serve();
    });
  }

  return(): Promise<IteratorResult<Value, undefined>> {
    if (!this.#ended) {
      this.#ended = { error: undefined };
      this.#source.cancel();
    }
    this.#values.length = 0;
    return Promise.resolve({ done: true, value: undefined });
  }

  /** Takes a value. False: it was not asked for. */
  write(value: Value): boolean {
    if (this.#ended) return true;
    if (this.#expected === 0) return false;
    this.#expected -= 1;
    this.#values.push(value);
    this.#serve();
    return true;
  }

  /** Takes the end; with the error if the stream has failed. */
  end(error?: unknown): void {
    this.#ended ??= { error };
    this.#serve();
  }

  /** Keeps some values under way: asks at first, and then for as many as have been read. */
  #ask(): void {
    if (this.#ended) return;
    const missing = aheadOf - this.#values.length - this.#expected;
    if (missing * 2 < aheadOf) return;
    this.#expected += missing;
    this.#source.pull(missing);
  }

  #serve(): void {
    const read = this.#read;
    if (!read) return;
    const value = this.#values.shift();
    if (value === undefined && !this.#ended) return;
    this.#read = undefined;
    const error = this.#ended?.error;
    if (value !== undefined) read.resolve({ done: false, value });
    else if (error === undefined) read.resolve({ done: true, value: undefined });
    else {
      this.#ended = { error: undefined };
      read.reject(error);
    }
  }
}

/** Number of values on their way to a reader. */
const aheadOf = 8;
