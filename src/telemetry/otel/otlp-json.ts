import { attributesOf, cut, type Attribute } from './attributes.js';
import type { SpanData } from './request-spans.js';

/** Service that the spans are of. */
export interface Service {
  readonly name: string;
  readonly version: string;
  readonly instance: string;
}

/**
 * JSON of spans without the brackets around them, as OTLP 1.10 maps it (opentelemetry.io/docs/specs/otlp, "JSON
 * Protobuf Encoding"). `offsetMs`: unix milliseconds at the origin of their times.
 */
export function spansJson(spans: readonly SpanData[], offsetMs: number): string {
  return JSON.stringify(spans.map((span) => otlpSpan(span, offsetMs))).slice(1, -1);
}

/** JSON of an export, of texts from `spansJson`. */
export function exportJson({ name, version, instance }: Service, spans: readonly string[]): string {
  const attributes: readonly Attribute[] = attributesOf({
    'service.name': name,
    'service.version': version,
    'service.instance.id': instance,
  });
  const resource = JSON.stringify({ attributes });
  const scope = JSON.stringify({ name: 'gw2api' });
  return `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":${scope},"spans":[${spans.join(',')}]}]}]}`;
}

const kinds = { internal: 1, server: 2, client: 3 } as const;

/** Bits of `flags`: the span is sampled, and it is known if its parent is in another process. */
const [sampled, isParentKnown, isParentRemote] = [0x1, 0x100, 0x200];

function otlpSpan({ kind, name, attributes, error, parent, ...span }: SpanData, offsetMs: number) {
  const isRemote = kind === 'server' && parent !== undefined;
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: parent?.spanId,
    flags: sampled | isParentKnown | (isRemote ? isParentRemote : 0),
    name: cut(name),
    kind: kinds[kind],
    startTimeUnixNano: unixNano(offsetMs + span.beganMs),
    endTimeUnixNano: unixNano(offsetMs + span.endedMs),
    attributes,
    status: error === undefined ? unset : { code: failed, message: cut(error) },
  };
}

const unset = { code: 0 } as const;
const failed = 2;

/** Nanoseconds, to the microsecond: as a number they would not be exact. */
function unixNano(unixMs: number): string {
  return `${Math.round(unixMs * 1000)}000`;
}
