import type { Duplex } from 'node:stream';
import { FrameReader, FrameWriter, WireFault } from './frames.js';
import { fromWireError, toWireError, type ErrorNotes } from './wire-errors.js';

/** Receivers of the messages of the other side, by their names. */
export interface LinkHandlers {
  /** Answer questions; what they throw is the answer too. */
  readonly calls: Readonly<Record<string, (params: unknown) => unknown>>;
  /** Take notes, which have no answer. */
  readonly notes: Readonly<Record<string, (params: unknown) => void>>;
}

export interface LinkOptions extends LinkHandlers {
  /** Max size of a received frame, beside twice that of the largest open question; default: no limit. */
  readonly maxBytes?: number;
  /** Max questions that wait for an answer, on each side. */
  readonly maxOpen: number;
  readonly errors: ErrorNotes;
  /** Called once if the connection is lost, with the fault of the other side if that is the reason. */
  readonly onEnd: (fault: WireFault | undefined) => void;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly size: number;
}

/** Questions, answers and notes between two processes over one connection. */
export class Link {
  readonly #socket: Duplex;
  readonly #options: LinkOptions;
  readonly #writer: FrameWriter;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  /** Questions of the other side that are not answered yet. */
  #asked = 0;
  #largest = 0;
  #isOver = false;

  constructor(socket: Duplex, options: LinkOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#writer = new FrameWriter(socket);
    const { maxBytes = Infinity } = options;
    const reader = new FrameReader(
      () => maxBytes + 2 * this.#largest,
      (message) => this.#take(message),
    );
    socket.on('data', (chunk: Buffer) => this.#guarded(() => reader.read(chunk)));
    socket.on('error', () => this.#lose(undefined));
    socket.on('close', () => this.#lose(undefined));
    socket.on('end', () => this.#lose(undefined));
  }

  /** Asks the other side. Rejects with its error, or once the connection has ended. */
  call(method: string, params: unknown): Promise<unknown> {
    if (this.#isOver) return Promise.reject(new Error('The connection has ended.'));
    if (this.#pending.size >= this.#options.maxOpen)
      this.#lose(new WireFault('left too many questions unanswered'));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const size = 3 * this.#writer.send(['call', id, method, params]); // bytes of a character, at most
      this.#largest = Math.max(this.#largest, size);
      this.#pending.set(id, { resolve, reject, size });
    });
  }

  /** Tells the other side something. `mayWait`: at most some milliseconds later, with other notes. */
  note(method: string, params: unknown, mayWait = false): void {
    if (!this.#isOver) this.#writer.send(['note', method, params], mayWait);
  }

  /** Ends the connection, and with this error all that waits for an answer. */
  end(error: Error): void {
    this.#isOver = true;
    this.#socket.destroy();
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  /** Takes no more messages; what waits for an answer ends with `end`. */
  #lose(fault: WireFault | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd(fault);
  }

  #guarded(work: () => void): void {
    if (this.#isOver) return;
    try {
      work();
    } catch (error) {
      this.#lose(
        error instanceof WireFault
          ? error
          : new WireFault('sent a message that cannot be read', { cause: error }),
      );
    }
  }

  #take(message: unknown): void {
    if (this.#isOver) return;
    const [kind, first, second, third] = Array.isArray(message) ? (message as readonly unknown[]) : [];
    if (kind === 'note') this.#takeNote(first, second);
    else if (kind === 'call') void this.#answer(first, second, third);
    else if (kind === 'result' || kind === 'error') this.#settle(kind, first, second);
    else throw new WireFault('sent a message of an unknown kind');
  }

  #takeNote(method: unknown, params: unknown): void {
    const { notes } = this.#options;
    const take = typeof method === 'string' && Object.hasOwn(notes, method) ? notes[method] : undefined;
    if (!take) throw new WireFault('sent a note of an unknown name');
    take(params);
  }

  async #answer(id: unknown, method: unknown, params: unknown): Promise<void> {
    this.#asked += 1;
    try {
      const result = await this.#called(method, params);
      if (!this.#isOver) this.#writer.send(['result', id, result ?? null]);
    } catch (error) {
      if (error instanceof WireFault) this.#lose(error);
      else if (!this.#isOver) this.#writer.send(['error', id, toWireError(error, this.#options.errors)]);
    } finally {
      this.#asked -= 1;
    }
  }

  #called(method: unknown, params: unknown): unknown {
    const { calls, maxOpen } = this.#options;
    if (this.#asked > maxOpen) throw new WireFault(`asked more than ${maxOpen} questions at once`);
    const answer = typeof method === 'string' && Object.hasOwn(calls, method) ? calls[method] : undefined;
    if (!answer) throw new WireFault('asked a question of an unknown name');
    return answer(params);
  }

  #settle(kind: 'result' | 'error', id: unknown, value: unknown): void {
    const pending = this.#pending.get(Number(id));
    if (!pending) throw new WireFault('answered a question that is not open');
    this.#pending.delete(Number(id));
    if (pending.size === this.#largest) {
      this.#largest = 0;
      for (const { size } of this.#pending.values()) this.#largest = Math.max(this.#largest, size);
    }
    if (kind === 'result') pending.resolve(value);
    else pending.reject(fromWireError(value, this.#options.errors));
  }
}
