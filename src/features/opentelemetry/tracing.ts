import type { IncomingHttpHeaders } from 'node:http';
import type { CallIds, CallIdSource } from '../../engine/trace/upstream-call-timer.js';
import type { Conventions } from './conventions.js';
import { spansOf } from './request-spans.js';
import { contextHeaders, randomId, traceContextOf, type TraceContext } from './trace-context.js';
import type { SpanData, TracedRequest } from './traced-request.js';

/** Destination of spans. */
export interface SpanSink {
  /** Queues the spans of a request; drops them if the queue is full. */
  add(spans: readonly SpanData[]): void;
  /** Exports the queue, within a time limit. */
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

/** Span of a running request, which makes the ids of its upstream calls. */
export class RequestSpan implements CallIdSource {
  readonly context: TraceContext;
  /** Milliseconds of `performance.now()`. */
  readonly beganMs = performance.now();
  readonly #isPropagated: boolean;

  constructor(context: TraceContext, isPropagated: boolean) {
    this.context = context;
    this.#isPropagated = isPropagated;
  }

  /** Ids of the next call, with the headers for it if the trace is propagated. */
  next(): CallIds {
    const spanId = randomId(8);
    return { spanId, headers: this.#isPropagated ? contextHeaders(this.context, spanId) : undefined };
  }
}

/** Traces of requests: makes their spans once their responses have closed. */
export class Tracing {
  readonly #options: TracingOptions;

  constructor(options: TracingOptions) {
    this.#options = options;
  }

  /** Trace of a request that begins; undefined if nothing of it is to be exported or propagated. */
  begin(headers: IncomingHttpHeaders): RequestSpan | undefined {
    const { share, isPropagated } = this.#options;
    const context = traceContextOf(headers, share);
    return context.isSampled || isPropagated ? new RequestSpan(context, isPropagated) : undefined;
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
