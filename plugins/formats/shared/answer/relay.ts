import {
  EventStream,
  type GatewayError,
  type ModelEvent,
  type ModelEventBatch,
  type ModelEvents,
  toGatewayError,
  type Transform,
} from '@gw2api/gateway/plugin';
import { interruptedError } from '@gw2api/gateway/plugin/format';

/** Consumer of events until an answer is complete. */
export interface EventReader {
  add(event: ModelEvent): void;
  /** True once every answer has had its `message_stop`; later events are ignored. */
  readonly isComplete: boolean;
}

/** Turns events into the text of one dialect. */
export interface StreamWriter extends EventReader {
  /** Adds the end of a complete stream, with its success marker. */
  finish(): void | Promise<void>;
  /** Adds the end of a broken one: the dialect's error event. */
  fail(error: GatewayError): void;
  /** The UTF-8 added since the last call. */
  take(): Buffer;
}

/**
 * Byte stream of a dialect, one chunk per batch; a failure writes the dialect's error event and is then
 * thrown. After a complete answer the events are drained, so that the upstream's connection can be reused.
 */
export function relay(events: ModelEvents, writer: StreamWriter): EventStream<Buffer> {
  return EventStream.from(events).through(new Relay(writer));
}

class Relay implements Transform<ModelEventBatch, Buffer> {
  readonly #writer: StreamWriter;

  constructor(writer: StreamWriter) {
    this.#writer = writer;
  }

  get isOver(): boolean {
    return this.#writer.isComplete;
  }

  transform(batch: ModelEventBatch): Buffer | undefined {
    for (const event of batch) this.#writer.add(event);
    return this.isOver ? undefined : this.#take();
  }

  flush(): Buffer | undefined | Promise<Buffer | undefined> {
    if (!this.#writer.isComplete) throw interruptedError();
    const finished = this.#writer.finish();
    return finished ? finished.then(() => this.#take()) : this.#take();
  }

  fail(error: unknown): Buffer | undefined {
    this.#writer.fail(toGatewayError(error));
    return this.#take();
  }

  #take(): Buffer | undefined {
    const text = withoutSeparators(this.#writer.take());
    return text.length > 0 ? text : undefined;
  }
}

/** Feeds a reader with all events. Throws their errors, and `upstream_interrupted` if they end early. */
export async function readAll(events: ModelEvents, reader: EventReader): Promise<void> {
  for await (const batch of events) for (const event of batch) reader.add(event);
  if (!reader.isComplete) throw interruptedError();
}

/** JSON in UTF-8 whose U+2028 and U+2029 are escaped: some readers of event streams take them for line ends. */
function withoutSeparators(json: Buffer): Buffer {
  if (!json.includes(firstByte)) return json;
  if (!json.includes(lineSeparator) && !json.includes(paragraphSeparator)) return json;
  const text = json.toString('latin1');
  const escaped = text
    .replaceAll('\u00e2\u0080\u00a8', '\\u2028')
    .replaceAll('\u00e2\u0080\u00a9', '\\u2029');
  return Buffer.from(escaped, 'latin1');
}

const firstByte = 0xe2; // that of both, sought by memchr
const lineSeparator = Buffer.from('\u2028');
const paragraphSeparator = Buffer.from('\u2029');
