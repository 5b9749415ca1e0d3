import {
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Attributes,
  type HrTime,
  type SpanContext,
  type TraceState,
} from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { cut } from './attributes.js';
import type { SpanData } from './traced-request.js';

interface SpanOrigin {
  readonly resource: Resource;
  /** Unix milliseconds at the origin of the times of spans. */
  readonly offsetMs: number;
}

/** Span as the packages of OpenTelemetry take it; literals with the same fields cost more to create. */
export class FinishedSpan implements ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly status: ReadableSpan['status'];
  readonly attributes: Attributes;
  readonly resource: Resource;
  readonly instrumentationScope = scope;
  readonly ended = true;
  readonly links = [];
  readonly events = [];
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #context: SpanContext;

  constructor(span: SpanData, { resource, offsetMs }: SpanOrigin) {
    const { traceId, spanId, parent, kind, beganMs, endedMs, error } = span;
    const traceFlags = TraceFlags.SAMPLED;
    this.name = cut(span.name);
    this.kind = kinds[kind];
    if (parent) {
      const isRemote = kind === 'server';
      this.parentSpanContext = { traceId, spanId: parent.spanId, traceFlags, isRemote };
    }
    this.startTime = hrTime(offsetMs + beganMs);
    this.endTime = hrTime(offsetMs + endedMs);
    this.duration = hrTime(endedMs - beganMs);
    this.status = error === undefined ? unset : { code: SpanStatusCode.ERROR, message: cut(error) };
    this.attributes = span.attributes;
    this.resource = resource;
    this.#context =
      span.state === undefined
        ? { traceId, spanId, traceFlags }
        : { traceId, spanId, traceFlags, traceState: stateOf(span.state) };
  }

  spanContext(): SpanContext {
    return this.#context;
  }
}

const scope = { name: 'gw2api' };

const unset = { code: SpanStatusCode.UNSET };

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/** State of a trace as the caller wrote it; the library's class drops parts that it considers invalid. */
function stateOf(text: string): TraceState {
  const state: TraceState = {
    get: () => undefined,
    set: () => state,
    unset: () => state,
    serialize: () => text,
  };
  return state;
}

/** Seconds and nanoseconds, to the microsecond: as one number they would not be exact. */
function hrTime(ms: number): HrTime {
  const micros = Math.round(ms * 1000);
  const seconds = Math.floor(micros / 1e6);
  return [seconds, (micros - seconds * 1e6) * 1000];
}
