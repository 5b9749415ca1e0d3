import { CollectedBytes } from '../../plugin/raw/index.js';
import { EventStream, GatewayError, type Clock, type ModelEventBatch } from '../../plugin/index.js';
import { interruptedError } from '../../plugin/format/index.js';
import type { HttpAnswer, SseTranslator } from '../../plugin/upstream/index.js';
import type { Backpressure, BodySink } from './body.js';
import { ByteQueue } from './byte-queue.js';
import { EventBody } from './events/event-body.js';
import { mediaType, type Headers } from './headers.js';
import { MessageReader } from './events/message-reader.js';
import { SniffedBody } from './events/sniffed-body.js';
import { TranslatedReader } from './events/translated-reader.js';

/** Call whose body can be taken once. */
interface Readable {
  /** Time when its connection was ready, by `performance.now()`. */
  readonly connectedAtMs: number | undefined;
  /** Time and timers of its limits; undefined: those of the machine. */
  readonly clock: Clock | undefined;
  /** Size of the request's body. */
  readonly sentBytes: number;
  read<Body extends BodySink>(open: (flow: Backpressure) => Body): Body;
}

/** Answer of an upstream: its head, and the ways to take its body. */
export class ReceivedAnswer implements HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly #call: Readable;
  /** The body, once its first bytes have been inspected. */
  #sniffed: SniffedBody | undefined;

  constructor(call: Readable, status: number, headers: Headers) {
    this.#call = call;
    this.status = status;
    this.headers = headers;
  }

  get mediaType(): string {
    return mediaType(this.headers);
  }

  async isEventStream(): Promise<boolean> {
    const type = this.mediaType;
    if (type === 'text/event-stream' || !sayNothing.has(type)) return type === 'text/event-stream';
    this.#sniffed ??= this.#call.read((flow) => new SniffedBody(flow));
    return this.#sniffed.isEvents;
  }

  events(unframe?: (bytes: Buffer) => Buffer): EventStream {
    const reader = new MessageReader(this.#call.sentBytes);
    return this.#read((flow) => new EventBody(flow, { unframe, reader })).events;
  }

  translated(translator: SseTranslator): EventStream {
    const reader = new TranslatedReader(translator);
    return this.#read((flow) => new EventBody(flow, { reader, clock: this.#call.clock })).events;
  }

  async text(maxBytes = maxTextBytes): Promise<string> {
    const body = this.#read((flow) => new TextBody(flow, maxBytes));
    const text = await body.text;
    if (body.error === undefined || this.status >= 400) return text;
    throw body.error instanceof Error ? body.error : interruptedError(body.error);
  }

  bytes(): AsyncIterable<Buffer> {
    return this.#read((flow) => new ByteQueue(flow));
  }

  lines(): AsyncIterable<readonly string[]> {
    return linesOf(this.bytes());
  }

  decode(decode: (lines: AsyncIterable<readonly string[]>) => AsyncIterable<ModelEventBatch>): EventStream {
    const body = this.#read((flow) => new ByteQueue(flow));
    const batches = decode(linesOf(body))[Symbol.asyncIterator]();
    const cancel = async (): Promise<IteratorResult<ModelEventBatch>> => {
      await body.return();
      await batches.return?.();
      return { done: true, value: undefined };
    };
    return EventStream.from({
      [Symbol.asyncIterator]: () => ({ next: () => batches.next(), return: cancel }),
    });
  }

  drop(): void {
    this.#read((flow) => {
      flow.finish();
      return nowhere;
    });
  }

  #read<Body extends BodySink>(open: (flow: Backpressure) => Body): Body {
    return this.#sniffed ? this.#sniffed.read(open) : this.#call.read(open);
  }
}

async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<readonly string[]> {
  const held = new CollectedBytes();
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    const end = bytes.lastIndexOf(lineFeed) + 1;
    if (end > 0) {
      held.add(bytes.subarray(0, end));
      const lines = decoder.decode(held.take(), { stream: true }).split(/\r?\n/);
      lines.pop();
      yield lines;
    }
    if (end < bytes.length) held.add(bytes.subarray(end));
    if (held.length > maxTextBytes) throw lineTooLong();
  }
  const rest = decoder.decode(held.take());
  if (rest !== '') yield [rest];
}

const lineFeed = 0x0a;

function lineTooLong(): GatewayError {
  const message = `The upstream sent a line of more than ${maxTextBytes / 1024 / 1024} MB.`;
  return new GatewayError('upstream_invalid_response', message, { failure: { kind: 'foreign' } });
}

/** Media types of services that do not declare their content. */
const sayNothing: ReadonlySet<string> = new Set([
  '',
  'application/json',
  'application/octet-stream',
  'text/plain',
]);

const nowhere: BodySink = { write: () => true, end: () => undefined };

/** Max size of a token count, of a whole message, and of a line. */
const maxTextBytes = 32 * 1024 * 1024;

/** Sink that collects a body as one text: error answers, token counts, whole messages. */
export class TextBody implements BodySink {
  /** Text of the body, up to `maxBytes`; resolved also if the body breaks off. */
  readonly text: Promise<string>;
  readonly #flow: Backpressure;
  readonly #maxBytes: number;
  readonly #collected = new CollectedBytes();
  #error: unknown;
  #resolve: (text: string) => void = () => {};

  constructor(flow: Backpressure, maxBytes: number) {
    this.#flow = flow;
    this.#maxBytes = maxBytes;
    this.text = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Error that ended the body early, if any; known once `text` has resolved. */
  get error(): unknown {
    return this.#error;
  }

  write(chunk: Buffer): boolean {
    this.#collected.add(chunk);
    if (this.#collected.length >= this.#maxBytes) this.#stop();
    return true;
  }

  end(error?: unknown): void {
    this.#error = error;
    this.#resolve(this.#collected.take().toString('utf8', 0, this.#maxBytes));
  }

  #stop(): void {
    this.end();
    this.#flow.abort();
  }
}
