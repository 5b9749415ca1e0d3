import type { Clock } from '../../plugin/index.js';
import { ExportBody } from './export-body.js';
import type { ExportFrame } from './otlp-json.js';

interface SpanQueueOptions {
  readonly frame: ExportFrame;
  /** Exports a body; resolves, also where that has failed: true if the collector has taken it. */
  readonly send: (body: Buffer, spans: number) => Promise<boolean>;
  /** Is told of spans that the queue had no room for. */
  readonly onDropped: (spans: number) => void;
  readonly clock: Pick<Clock, 'setTimer'>;
}

/** Bounded queue of spans as JSON, exported one body after the other: after a second, or once a body is full. */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  readonly #frameBytes: number;
  /** Full bodies. */
  #waiting: ExportBody[] = [];
  /** Body that spans are added to. */
  #open: ExportBody | undefined;
  /** Bytes of the buffers of both. */
  #bytes = 0;
  /** Buffer of a body that was sent, for the next one: a new one each time would make the heap be marked more often. */
  #spare: Buffer | undefined;
  #cancelTimer: (() => void) | undefined;
  #exporting: Promise<void> | undefined;

  constructor(options: SpanQueueOptions) {
    this.#options = options;
    const { head, tail } = options.frame;
    this.#frameBytes = Buffer.byteLength(head + tail) + 1;
  }

  /** Adds the spans of one request, which stay together. */
  add(json: string, spans: number): void {
    const body = this.#bodyFor(Buffer.byteLength(json));
    if (!body) return this.#options.onDropped(spans);
    body.add(json, spans);
    if (this.#waiting.length > 0) void this.#start();
    else this.#cancelTimer ??= this.#options.clock.setTimer(() => this.#exportOpen(), delayMs);
  }

  /** Exports what is waiting; resolves when that is done. */
  async close(): Promise<void> {
    this.#cancelTimer?.();
    this.#fill();
    await this.#start();
  }

  /** Open body with room for so many bytes; undefined: the queue is full. */
  #bodyFor(bytes: number): ExportBody | undefined {
    if (this.#open?.hasRoom(bytes)) return this.#open;
    const capacity = Math.max(bodyBytes, this.#frameBytes + bytes);
    if (this.#bytes + capacity > maxBytes) return undefined;
    this.#fill();
    this.#bytes += capacity;
    return (this.#open = new ExportBody(this.#bufferOf(capacity), this.#options.frame));
  }

  #bufferOf(capacity: number): Buffer {
    const spare = this.#spare;
    if (spare?.length !== capacity) return Buffer.allocUnsafeSlow(capacity);
    this.#spare = undefined;
    return spare;
  }

  /** Counts the open body as full. */
  #fill(): void {
    if (this.#open) this.#waiting.push(this.#open);
    this.#open = undefined;
  }

  #exportOpen(): void {
    this.#cancelTimer = undefined;
    this.#fill();
    void this.#start();
  }

  async #start(): Promise<void> {
    if (this.#waiting.length > 0) this.#exporting ??= this.#exportAll();
    await this.#exporting;
  }

  async #exportAll(): Promise<void> {
    try {
      for (let body = this.#waiting.shift(); body; body = this.#waiting.shift()) await this.#export(body);
    } finally {
      this.#exporting = undefined; // at once: what is added from now on needs another run
    }
  }

  async #export(body: ExportBody): Promise<void> {
    this.#bytes -= body.capacity;
    const isTaken = await this.#options.send(body.close(), body.spans);
    if (isTaken && body.capacity === bodyBytes) this.#spare = body.release(); // else a socket may still read it
  }
}

/** Size of a body, if the spans of one request do not need more. */
const bodyBytes = 256 * 1024;
const delayMs = 1000;

/** Max size of the bodies that wait. */
const maxBytes = 16 * 2 ** 20;
