/** What carries messages to another process and back, in order and whole. */
export interface Wire {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** The other side has gone: nothing comes any more. */
  onClose(listener: () => void): void;
}

type Frame =
  | readonly [kind: 'tell', topic: string, value: unknown]
  | readonly [kind: 'ask', topic: string, value: unknown, id: number]
  | readonly [kind: 'answer', id: number, value: unknown]
  | readonly [kind: 'fail', id: number, message: string];

/** An answer that will not come, for the process that was asked has gone. */
export class LineClosedError extends Error {
  constructor() {
    super('The other process has gone.');
  }
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * What two processes of one version say to each other: what one tells the other hears, what one asks the other answers.
 * What is said in one turn of the event loop goes as one message: sending costs more than what is sent.
 */
export class RpcChannel {
  readonly #wire: Wire;
  readonly #listeners = new Map<string, (value: never) => unknown>();
  readonly #asked = new Map<number, Pending>();
  readonly #onClose: (() => void)[] = [];
  #unsent: Frame[] = [];
  #lastId = 0;
  #isClosed = false;

  constructor(wire: Wire) {
    this.#wire = wire;
    wire.onMessage((message) => {
      for (const frame of message as readonly Frame[]) this.#take(frame); // a line is at the other end too
    });
    wire.onClose(() => this.#close());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  tell(topic: string, value: unknown = null): void {
    this.#say(['tell', topic, value]);
  }

  /** Rejects with a `LineClosedError` where the other side goes first, and with what its listener throws. */
  ask<Answer>(topic: string, value: unknown = null): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(new LineClosedError());
    const id = ++this.#lastId;
    return new Promise<Answer>((resolve, reject) => {
      // The other side answers to this topic with this type.
      this.#asked.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#say(['ask', topic, value, id]);
    });
  }

  /** Hears what is told of a topic; to what is asked, the listener's result is the answer. One listener a topic. */
  on(topic: string, listener: (value: never) => unknown): void {
    this.#listeners.set(topic, listener);
  }

  /** At once where the other side has gone already. */
  onClose(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#onClose.push(listener);
  }

  /** Sends at once what waits for the end of this turn. */
  flush(): void {
    if (this.#unsent.length > 0 && !this.#isClosed) this.#wire.send(this.#unsent);
    this.#unsent = [];
  }

  #say(frame: Frame): void {
    if (this.#isClosed) return;
    if (this.#unsent.push(frame) === 1) setImmediate(() => this.flush());
  }

  #take(frame: Frame): void {
    switch (frame[0]) {
      case 'tell':
        this.#hear(frame[1], frame[2]);
        break;
      case 'ask':
        void this.#answer(frame[1], frame[2], frame[3]);
        break;
      case 'answer':
        this.#settle(frame[1])?.resolve(frame[2]);
        break;
      case 'fail':
        this.#settle(frame[1])?.reject(new Error(frame[2]));
    }
  }

  #hear(topic: string, value: unknown): unknown {
    const listener = this.#listeners.get(topic);
    if (!listener) throw new Error(`Nobody listens to "${topic}".`);
    return listener(value as never); // the other side is of the same version
  }

  async #answer(topic: string, value: unknown, id: number): Promise<void> {
    try {
      this.#say(['answer', id, (await this.#hear(topic, value)) ?? null]);
    } catch (error) {
      this.#say(['fail', id, error instanceof Error ? error.message : String(error)]);
    }
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#asked.get(id);
    this.#asked.delete(id);
    return pending;
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unsent = [];
    for (const { reject } of this.#asked.values()) reject(new LineClosedError());
    this.#asked.clear();
    for (const listener of this.#onClose.splice(0)) listener();
  }
}
