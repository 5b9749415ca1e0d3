import type { IncomingHttpHeaders } from 'node:http';
import type { Conventions } from './conventions.js';
import { spansOf, type SpanData, type TracedRequest } from './request-spans.js';
import { contextHeaders, randomId, traceContextOf, type TraceContext } from './trace-context.js';

/** Destination of spans. */
export interface SpanSink {
  /** Queues the spans of a request; drops them where the queue is full. */
  add(spans: readonly SpanData[]): void;
  /** Exports what is queued, within a time limit. */
  close(): Promise<void>;
}

export interface TracingOptions {
  readonly conventions: Conventions;
  /** Share of the requests without a trace of their own that is sampled, 0 to 1. */
  readonly share: number;
  /** True: upstream calls get `traceparent`. */
  readonly isPropagated: boolean;
  readonly sink: SpanSink;
}

/** Ids and headers for the upstream calls of a request. */
export interface CallContext {
  readonly context: TraceContext;
  /** Ids of the next call, with the headers for it where the trace is handed on. */
  next(): { readonly spanId: string; readonly headers: Readonly<Record<string, string>> | undefined };
}

/** Traces of requests: makes their spans once their responses have closed. */
export class Tracing {
  readonly #options: TracingOptions;

  constructor(options: TracingOptions) {
    this.#options = options;
  }

  /** Trace of a request that begins; undefined if nothing of it is to be exported or handed on. */
  begin(headers: IncomingHttpHeaders): CallContext | undefined {
    const { share, isPropagated } = this.#options;
    const context = traceContextOf(headers, share);
    if (!context.isSampled && !isPropagated) return undefined;
    return {
      context,
      next() {
        const spanId = randomId(8);
        return { spanId, headers: isPropagated ? contextHeaders(context, spanId) : undefined };
      },
    };
  }

  /** Exports the spans of a request, if its trace is sampled. */
  end(request: TracedRequest): void {
    if (!request.context.isSampled) return;
    this.#options.sink.add(spansOf(request, this.#options.conventions));
  }

  close(): Promise<void> {
    return this.#options.sink.close();
  }
}
