import { attribute, listJson, textJson } from './attributes.js';
import type { SpanData } from './traced-request.js';

/** Service that the spans are of. */
export interface Service {
  readonly name: string;
  readonly version: string;
  readonly instance: string;
}

/** JSON of an export around its spans, which stand between with commas. */
export interface ExportFrame {
  readonly head: string;
  readonly tail: string;
}

/**
 * JSON of spans with commas between them, as OTLP 1.10 maps it (opentelemetry.io/docs/specs/otlp, "JSON Protobuf
 * Encoding"). `offsetMs`: unix milliseconds at the origin of their times.
 */
export function spansJson(spans: readonly SpanData[], offsetMs: number): string {
  let json = '';
  for (const span of spans) json += (json && ',') + spanJson(span, offsetMs);
  return json;
}

export function exportFrame({ name, version, instance }: Service): ExportFrame {
  const attributes =
    attribute('service.name', name) +
    attribute('service.version', version) +
    attribute('service.instance.id', instance) +
    attribute('telemetry.sdk.name', 'gw2api') +
    attribute('telemetry.sdk.language', 'nodejs') +
    attribute('telemetry.sdk.version', version);
  const resource = `{"attributes":${listJson(attributes)}}`;
  return {
    head: `{"resourceSpans":[{"resource":${resource},"scopeSpans":[{"scope":{"name":"gw2api"},"spans":[`,
    tail: ']}]}]}',
  };
}

const kinds = { internal: 1, server: 2, client: 3 } as const;

/** Bits of `flags`: the span is sampled, and it is known if its parent is in another process. */
const [sampled, isParentKnown, isParentRemote] = [0x1, 0x100, 0x200];

function spanJson(span: SpanData, offsetMs: number): string {
  const { traceId, spanId, parent, state, name, kind, beganMs, endedMs, attributes, error } = span;
  const isRemote = kind === 'server' && parent !== undefined;
  const flags = sampled | isParentKnown | (isRemote ? isParentRemote : 0);
  return (
    `{"traceId":"${traceId}","spanId":"${spanId}",${parent ? `"parentSpanId":"${parent.spanId}",` : ''}` +
    (state === undefined ? '' : `"traceState":${JSON.stringify(state)},`) +
    `"flags":${flags},"name":${textJson(name)},"kind":${kinds[kind]},` +
    `"startTimeUnixNano":"${unixNano(offsetMs + beganMs)}","endTimeUnixNano":"${unixNano(offsetMs + endedMs)}",` +
    `"attributes":${listJson(attributes)}${error === undefined ? '' : failedBy(error)}}`
  );
}

/** Status of a span that ended with an error; without one it is unset. */
function failedBy(error: string): string {
  return `,"status":{"code":2,"message":${textJson(error)}}`;
}

/** Nanoseconds, to the microsecond: as one number they would not be exact, and two small ones are written faster. */
function unixNano(unixMs: number): string {
  const micros = Math.round(unixMs * 1000);
  const seconds = Math.floor(micros / 1e6);
  return `${seconds}${String(micros - seconds * 1e6).padStart(6, '0')}000`;
}
