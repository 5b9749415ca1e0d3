import { ExportResultCode } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';

interface SpanQueueOptions {
  /** Exports a batch; resolves even if that has failed. */
  readonly send: (spans: ReadableSpan[]) => Promise<void>;
  /** Notified of spans dropped from a full queue. */
  readonly onDropped: (spans: number) => void;
}

/** Bounded queue of spans, exported one batch after the other: after a second, or once a batch is full. */
export class SpanQueue {
  readonly #options: SpanQueueOptions;
  readonly #processor: BatchSpanProcessor;
  /** Bytes of the spans that wait. */
  #bytes = 0;
  /** Export of the last batch that the processor has handed over; when it closes, it hands over all at once. */
  #sent: Promise<void> = Promise.resolve();

  constructor(options: SpanQueueOptions) {
    this.#options = options;
    const exporter = {
      export: (spans: ReadableSpan[], onResult: (result: { code: ExportResultCode }) => void) => {
        this.#sent = this.#sent.then(() => this.#send(spans));
        void this.#sent.then(() => onResult({ code: ExportResultCode.SUCCESS })); // `send` tells of a failure
      },
      shutdown: () => this.#sent,
    };
    this.#processor = new BatchSpanProcessor(exporter, limits);
  }

  /** Adds the spans of one request, or drops them all. */
  add(spans: readonly ReadableSpan[]): void {
    const bytes = bytesOf(spans);
    if (this.#bytes + bytes > maxBytes) return this.#options.onDropped(spans.length);
    this.#bytes += bytes;
    for (const span of spans) this.#processor.onEnd(span);
  }

  /** Exports the queue; resolves when that is done. */
  close(): Promise<void> {
    return this.#processor.shutdown();
  }

  #send(spans: ReadableSpan[]): Promise<void> {
    this.#bytes -= bytesOf(spans);
    return this.#options.send(spans);
  }
}

/** Limits of the processor; infinite ones are enforced here and by the transport, which report dropped spans. */
const limits = {
  maxQueueSize: Infinity,
  maxExportBatchSize: 512,
  scheduledDelayMillis: 1000,
  exportTimeoutMillis: 2 ** 31 - 1, // the longest timer
};

/** Max bytes of the spans that wait. */
const maxBytes = 16 * 2 ** 20;

/** Approximate memory of spans: their objects and the texts of their attributes. */
function bytesOf(spans: readonly ReadableSpan[]): number {
  let bytes = spans.length * objectBytes;
  for (const { attributes } of spans) for (const key in attributes) bytes += textBytes(attributes[key]);
  return bytes;
}

const objectBytes = 1024;

function textBytes(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.reduce<number>((sum, item) => sum + textBytes(item), 0) : 0;
}
