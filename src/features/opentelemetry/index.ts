export type { Conventions } from './conventions.js';
export type { TracedSlot } from './traced-request.js';
export { openOtlpSink } from './otlp-sink.js';
export { RequestSpan, Tracing } from './tracing.js';
