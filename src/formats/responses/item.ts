import type { ByteText } from '../../plugin/index.js';

/** An output item as the caller sees it. */
export type Item = Readonly<Record<string, unknown>>;

/** Sink of events: a stream, or nothing. `fields` lacks only the sequence number. */
export interface EventSink {
  emit(type: string, fields: object): void;
  /** Same as `emit`, with the fields as JSON without braces: avoids an object for each text delta. */
  emitJson(type: string, fields: ByteText): void;
}

/** An output item under way. */
export interface OpenItem {
  /** Emits an event about this item. */
  emit(type: string, fields: object): void;
  emitJson(type: string, fields: ByteText): void;
  /** Ends it; `fields` are all but its id. */
  done(fields: object): void;
}
