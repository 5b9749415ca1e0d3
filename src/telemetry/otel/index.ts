export type { Conventions } from './conventions.js';
export type { TracedRequest, TracedSlot } from './request-spans.js';
export { openOtlpSink } from './otlp-sink.js';
export { Tracing, type CallContext } from './tracing.js';
