import { SpanKind, SpanStatusCode, TraceFlags, type HrTime } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { within, type Logger } from '../../plugin/internal.js';
import type { SpanData } from './request-spans.js';
import type { SpanIds } from './trace-context.js';
import type { SpanSink } from './tracing.js';

interface OtlpOptions {
  /** Address of the collector, with or without `/v1/traces`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly service: { readonly name: string; readonly version: string; readonly instance: string };
  readonly log: Logger;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Sink that sends spans to a collector, as OTLP in JSON over HTTP, in batches from a bounded queue. */
export function openOtlpSink({ url, headers, service, log, now }: OtlpOptions): SpanSink {
  const exporter = new OTLPTraceExporter({
    url: tracesUrl(url),
    headers: { ...headers },
    timeoutMillis: 10_000,
    concurrencyLimit: 4,
  });
  const processor = new BatchSpanProcessor(reported(exporter, log), {
    maxQueueSize: 8192,
    maxExportBatchSize: 512,
    scheduledDelayMillis: 1000,
    exportTimeoutMillis: 10_000,
  });
  const resource = resourceFromAttributes({
    'service.name': service.name,
    'service.version': service.version,
    'service.instance.id': service.instance,
  });
  return {
    add(spans) {
      const offsetMs = now() - performance.now(); // `timeOrigin` misses what sets the clock later
      for (const span of spans) processor.onEnd(readable(span, offsetMs, resource));
    },
    // A failure has been logged; a collector that gives no answer does not keep the process.
    close: () => within(processor.shutdown(), closeMs, 'no answer').catch(() => undefined),
  };
}

function tracesUrl(url: string): string {
  const base = url.replace(/\/+$/, '');
  return base.endsWith('/v1/traces') ? base : `${base}/v1/traces`;
}

/** Exporter that logs a failure, at most once a minute. */
function reported(exporter: SpanExporter, log: Logger): SpanExporter {
  let loggedMs = -Infinity;
  let lost = 0;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.error) lost += spans.length;
        if (lost > 0 && performance.now() - loggedMs >= reportEveryMs) {
          loggedMs = performance.now();
          log.warn({ err: result.error, spans: lost }, 'Spans could not be sent to telemetry.otlp.');
          lost = 0;
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

const reportEveryMs = 60_000;

const closeMs = 3000;

const kinds = { server: SpanKind.SERVER, internal: SpanKind.INTERNAL, client: SpanKind.CLIENT } as const;

/** Span as the exporter reads it. */
function readable(span: SpanData, offsetMs: number, resource: Resource): ReadableSpan {
  const { name, kind, beganMs, endedMs, attributes, error, parent } = span;
  const own = contextOf(span);
  return {
    name,
    kind: kinds[kind],
    spanContext: () => own,
    ...(parent && { parentSpanContext: contextOf(parent) }),
    startTime: hrTime(offsetMs + beganMs),
    endTime: hrTime(offsetMs + endedMs),
    duration: hrTime(endedMs - beganMs),
    status: error === undefined ? unset : { code: SpanStatusCode.ERROR, message: error },
    attributes: attributes as ReadableSpan['attributes'], // lists that are not changed
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

const unset = { code: SpanStatusCode.UNSET };
const scope = { name: 'gw2api' };

function contextOf({ traceId, spanId }: SpanIds) {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
