import {
  type GatewayError,
  type MessagesStreamEvent,
  ModelEvent,
  type ModelEvents,
} from '@gw2api/gateway/plugin';
import { errorFromEvent, sseEvent } from '@gw2api/gateway/plugin/format';
import { toBinaryString, BinaryStringBuilder } from '@gw2api/gateway/plugin/raw';
import { messagesError } from './error.js';
import { isRecord } from '../shared/body.js';
import { relay, type StreamWriter } from '../shared/answer/relay.js';

/** The events of the first answer unchanged, except for the model's name in `message_start`. */
export function messagesStream(events: ModelEvents, model: string): AsyncIterable<Buffer> {
  return relay(events, new MessagesStream(model));
}

class MessagesStream implements StreamWriter {
  readonly #model: string;
  readonly #text = new BinaryStringBuilder();
  #isStarted = false;
  #hasError = false;
  isComplete = false;

  constructor(model: string) {
    this.#model = model;
  }

  add(event: ModelEvent): void {
    if (event.choice !== 0 || this.isComplete) return;
    const special = specials.get(event.type);
    if (special) special(event, this);
    else this.pass(event);
  }

  take(): Buffer {
    return this.#text.take();
  }

  finish(): void {}

  /** Writes the error event, unless the upstream's own one has been sent already. */
  fail(error: GatewayError): void {
    if (!this.#hasError) this.#text.add(toBinaryString(messagesError(error)));
  }

  pass(event: ModelEvent): void {
    if (!event.copyTo(this.#text)) this.#text.add(toBinaryString(sseEvent(event.type, event.data)));
  }

  /** A service that retries inside its stream sends a second start, which no client expects. */
  start(event: ModelEvent): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.pass(underModel(event, this.#model));
  }

  stop(event: ModelEvent): void {
    this.pass(event);
    this.isComplete = true;
  }

  error(event: ModelEvent): void {
    this.#hasError = isErrorEvent(event.json);
    if (this.#hasError) this.pass(event);
    throw errorFromEvent(event.json);
  }
}

const specials = new Map<string, (event: ModelEvent, stream: MessagesStream) => void>([
  ['message_start', (event, stream) => stream.start(event)],
  ['message_stop', (event, stream) => stream.stop(event)],
  ['error', (event, stream) => stream.error(event)],
]);

/** True for an error event that clients of Messages can read, of the many shapes of compatible services. */
function isErrorEvent(json: MessagesStreamEvent): boolean {
  if (json.type !== 'error' || !isRecord(json.error)) return false;
  return typeof json.error.type === 'string' && typeof json.error.message === 'string';
}

function underModel(event: ModelEvent, model: string): ModelEvent {
  const { json } = event;
  if (json.type !== 'message_start' || json.message.model === model) return event;
  return ModelEvent.of({ ...json, message: { ...json.message, model } });
}
