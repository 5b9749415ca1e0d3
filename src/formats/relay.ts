import {
  type GatewayError,
  interruptedError,
  type ModelEvent,
  type ModelEvents,
  toGatewayError,
} from '../plugin/index.js';

/** Whatever takes events until an answer is complete. */
export interface EventReader {
  add(event: ModelEvent): void;
  /** Whether every answer has had its `message_stop`; what comes afterwards is passed over. */
  readonly isComplete: boolean;
}

/** Turns events into the text of one dialect. */
export interface StreamWriter extends EventReader {
  /** What the events since the last call have come to. */
  take(): string;
  /** The end of a complete stream, with its success marker. */
  finish(): string | Promise<string>;
  /** The end of a broken one: the dialect's error event. */
  fail(error: GatewayError): string;
}

/**
 * The text of a stream, one string for each batch. A failure gives the dialect's error event and is then thrown. Once
 * the answer is complete the events are only drained, so that the upstream's connection can be used again.
 */
export async function* relay(events: ModelEvents, writer: StreamWriter): AsyncGenerator<string> {
  let isFinished = false;
  try {
    for await (const batch of events) {
      if (isFinished) continue;
      for (const event of batch) writer.add(event);
      let text = writer.take();
      if (writer.isComplete) {
        text += await writer.finish();
        isFinished = true;
      }
      if (text !== '') yield text;
    }
    if (!isFinished) throw interruptedError();
  } catch (cause) {
    if (isFinished) return; // the caller has it all: what goes wrong now is not about this answer
    const error = toGatewayError(cause);
    yield writer.take() + writer.fail(error);
    throw error;
  }
}

/** Feeds a reader with all events. Throws what they throw, and `upstream_interrupted` where they just end. */
export async function readAll(events: ModelEvents, reader: EventReader): Promise<void> {
  for await (const batch of events) for (const event of batch) reader.add(event);
  if (!reader.isComplete) throw interruptedError();
}
