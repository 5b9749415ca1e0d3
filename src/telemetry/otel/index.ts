/** The door of this room, but for `otlp-sink.ts`, which is loaded only where there is a collector. */
export type { Conventions } from './conventions.js';
export type { TracedRequest, TracedSlot } from './request-spans.js';
export { Tracing, type CallContext } from './tracing.js';
