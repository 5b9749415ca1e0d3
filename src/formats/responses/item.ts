import type { ByteText } from '../../plugin/index.js';

/** An output item as the caller sees it. */
export type Item = Readonly<Record<string, unknown>>;

/** Where events go: into a stream, or nowhere. `fields` lacks only the sequence number. */
export interface EventSink {
  emit(type: string, fields: object): void;
  /** The same with the fields as JSON, without the braces: what answers are made of is not worth an object. */
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
