import type { EventStream, ModelEventBatch } from '../../../plugin/index.js';
import { EventInlet } from './event-inlet.js';
import { EventOutlet } from './event-outlet.js';
import { WireFault } from './frames.js';
import { fromWireError, toWireError, type ErrorNotes } from './wire-errors.js';

/** The part of a link that streams use. */
interface NotePort {
  note(method: string, params: unknown, mayWait?: boolean): void;
}

/** Stream that goes to the other side. */
export interface SentStream {
  readonly encode: (batch: ModelEventBatch) => unknown;
  /** Takes the number of the last event that the other side has seen. */
  readonly onSeen?: (seen: number) => void;
}

/** Stream that comes from the other side. */
export interface ReceivedStream {
  /** Throws for values that are not a batch. */
  readonly decode: (value: unknown) => ModelEventBatch;
  /** Checks the end; throws if the stream may not end there. */
  readonly onEnd?: () => void;
  /** Number of the last event that was received. */
  readonly seen?: () => number;
  /** Error in place of one of `decode`, of `onEnd`, or of the other side. */
  readonly toError?: (error: unknown) => unknown;
}

interface Inlet {
  readonly values: EventInlet;
  readonly stream: ReceivedStream;
}

interface Outlet {
  readonly values: EventOutlet;
  readonly stream: SentStream;
}

/** Event streams over a link, in both directions; each side numbers those that it sends. */
export class Streams {
  readonly #port: () => NotePort;
  readonly #errors: ErrorNotes;
  readonly #outlets = new Map<number, Outlet>();
  readonly #inlets = new Map<number, Inlet>();
  #lastId = 0;
  /** Messages of streams that have ended here before. */
  #strays = 0;

  constructor(port: () => NotePort, errors: ErrorNotes) {
    this.#port = port;
    this.#errors = errors;
  }

  /** Offers a stream to the other side; nothing is read before that asks. Returns its number. */
  send(events: EventStream, stream: SentStream): number {
    const id = ++this.#lastId;
    const port = this.#port();
    const values = new EventOutlet(events, {
      batch: (batch) => port.note('events', [id, stream.encode(batch)], true),
      end: (error) => {
        this.#outlets.delete(id);
        port.note('end', [id, error === undefined ? null : toWireError(error, this.#errors)]);
      },
    });
    this.#outlets.set(id, { values, stream });
    return id;
  }

  /** Stream of the other side, by its number there. */
  receive(id: number, stream: ReceivedStream): EventStream {
    const values = new EventInlet({
      pull: (count) => this.#port().note('pull', [id, count, stream.seen?.() ?? 0], true),
      cancel: () => {
        this.#inlets.delete(id);
        this.#port().note('cancel', [id]);
      },
    });
    this.#inlets.set(id, { values, stream });
    return values.events;
  }

  /** Cancels a stream to the other side, unless it has ended. */
  cancel(id: number, reason?: unknown): void {
    this.#outlets.get(id)?.values.cancel(reason);
    this.#outlets.delete(id);
  }

  /** Takes a stream back that the other side has not begun to read; false if there is no such one. */
  keep(id: number): boolean {
    return this.#outlets.delete(id);
  }

  /** Ends all streams: those of the other side with the error. */
  close(error: unknown): void {
    for (const { values, stream } of this.#inlets.values()) values.end(stream.toError?.(error) ?? error);
    for (const { values } of this.#outlets.values()) values.cancel(error);
    this.#inlets.clear();
    this.#outlets.clear();
  }

  /** Receivers of the messages of the other side. */
  readonly notes = {
    pull: (params: unknown): void => {
      const [id, count, seen] = numbersOf(params);
      const outlet = this.#outlets.get(id);
      if (!outlet) return this.#stray();
      if (!(count > 0 && count <= maxAsked)) throw new WireFault('asked for a wrong number of events');
      outlet.stream.onSeen?.(seen);
      outlet.values.pull(count);
    },
    cancel: (params: unknown): void => {
      const [id] = numbersOf(params);
      if (!this.#outlets.has(id)) return this.#stray();
      this.cancel(id);
    },
    events: (params: unknown): void => {
      const [id] = numbersOf(params);
      const inlet = this.#inlets.get(id);
      if (inlet) this.#take(id, inlet, (params as readonly unknown[])[1]); // a list, as `numbersOf` has checked
      else this.#stray();
    },
    end: (params: unknown): void => {
      const [id] = numbersOf(params);
      const inlet = this.#inlets.get(id);
      if (inlet) this.#end(id, inlet, (params as readonly unknown[])[1]); // a list, as `numbersOf` has checked
      else this.#stray();
    },
  };

  #take(id: number, inlet: Inlet, value: unknown): void {
    try {
      const batch = inlet.stream.decode(value);
      if (!inlet.values.write(batch)) throw new WireFault('sent events that were not asked for');
    } catch (error) {
      if (error instanceof WireFault) throw error;
      this.#fail(id, inlet, error);
      this.#port().note('cancel', [id]);
    }
  }

  #end(id: number, inlet: Inlet, error: unknown): void {
    try {
      if (error !== null) throw fromWireError(error, this.#errors);
      inlet.stream.onEnd?.();
      this.#inlets.delete(id);
      inlet.values.end();
    } catch (fault) {
      this.#fail(id, inlet, fault);
    }
  }

  #fail(id: number, { values, stream }: Inlet, error: unknown): void {
    this.#inlets.delete(id);
    values.end(stream.toError?.(error) ?? error);
  }

  #stray(): void {
    this.#strays += 1;
    if (this.#strays > maxStrays) throw new WireFault('sent too many events of streams that had ended');
  }
}

const maxAsked = 1000;
const maxStrays = 1_000_000;

/** A number of a stream and two further ones, 0 where a message has none. */
function numbersOf(params: unknown): readonly [number, number, number] {
  const [id, one, other] = Array.isArray(params) ? (params as readonly unknown[]) : [];
  if (!Number.isInteger(id)) throw new WireFault('sent a message of a stream without its number');
  return [Number(id), toNumber(one), toNumber(other)];
}

function toNumber(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
