import { GatewayError, isGatewayError } from '../../../plugin/index.js';

/** Message port to another process, which delivers whole messages in order. */
export interface RpcPort {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Adds a listener for the end of the other side; no message follows. */
  onClose(listener: () => void): void;
}

type Frame =
  | readonly [kind: 'notify', topic: string, value: unknown]
  | readonly [kind: 'ask', topic: string, value: unknown, id: number]
  | readonly [kind: 'answer', id: number, value: unknown]
  | readonly [kind: 'fail', id: number, message: string, code: string | null, details?: unknown];

/** Error of a request whose process has exited before the answer. */
class ChannelClosedError extends Error {
  constructor() {
    super('The other process has gone.');
  }
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * RPC channel between two processes of one version, for messages (`notify`) and requests (`ask`). Batches the
 * messages of one turn of the event loop, because each send is expensive.
 */
export class RpcChannel {
  readonly #port: RpcPort;
  readonly #listeners = new Map<string, (value: never) => unknown>();
  readonly #asked = new Map<number, Pending>();
  readonly #onClose: (() => void)[] = [];
  #unsent: Frame[] = [];
  #lastId = 0;
  #isClosed = false;

  constructor(port: RpcPort) {
    this.#port = port;
    port.onMessage((message) => {
      for (const frame of message as readonly Frame[]) this.#take(frame); // sent by the RpcChannel at the other end
    });
    port.onClose(() => this.#close());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  notify(topic: string, value: unknown = null): void {
    this.#send(['notify', topic, value]);
  }

  /**
   * Sends a request. Rejects with a `ChannelClosedError` if the other side closes first, and with the error of
   * its listener; of a GatewayError the code, the message and the details are kept.
   */
  ask<Answer>(topic: string, value: unknown = null): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(new ChannelClosedError());
    const id = ++this.#lastId;
    return new Promise<Answer>((resolve, reject) => {
      // The other side answers to this topic with this type.
      this.#asked.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#send(['ask', topic, value, id]);
    });
  }

  /** Sets the only listener of a topic, for messages and requests; its result answers a request. */
  on(topic: string, listener: (value: never) => unknown): void {
    this.#listeners.set(topic, listener);
  }

  /** Adds a close listener; calls it at once if the channel is closed. */
  onClose(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#onClose.push(listener);
  }

  /** Sends the current batch at once, without waiting for the end of this turn. */
  flush(): void {
    if (this.#unsent.length > 0 && !this.#isClosed) this.#port.send(this.#unsent);
    this.#unsent = [];
  }

  #send(frame: Frame): void {
    if (this.#isClosed) return;
    if (this.#unsent.push(frame) === 1) setImmediate(() => this.flush());
  }

  #take(frame: Frame): void {
    switch (frame[0]) {
      case 'notify':
        this.#dispatch(frame[1], frame[2]);
        break;
      case 'ask':
        void this.#answer(frame[1], frame[2], frame[3]);
        break;
      case 'answer':
        this.#settle(frame[1])?.resolve(frame[2]);
        break;
      case 'fail':
        this.#settle(frame[1])?.reject(errorOf(frame[2], frame[3], frame[4]));
    }
  }

  #dispatch(topic: string, value: unknown): unknown {
    const listener = this.#listeners.get(topic);
    if (!listener) throw new Error(`Nobody listens to "${topic}".`);
    return listener(value as never); // the other side is of the same version
  }

  async #answer(topic: string, value: unknown, id: number): Promise<void> {
    try {
      this.#send(['answer', id, (await this.#dispatch(topic, value)) ?? null]);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (isGatewayError(error)) this.#send(['fail', id, message, error.code, error.details]);
      else this.#send(['fail', id, message, null]);
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
    for (const { reject } of this.#asked.values()) reject(new ChannelClosedError());
    this.#asked.clear();
    for (const listener of this.#onClose.splice(0)) listener();
  }
}

function errorOf(message: string, code: string | null, details: unknown): Error {
  return code === null ? new Error(message) : new GatewayError(code, message, { details });
}
