import {
  errorFromEvent,
  type GatewayError,
  type MessagesStreamEvent,
  ModelEvent,
  type ModelEvents,
} from '../../plugin/index.js';
import { isRecord } from '../body.js';
import { relay, type StreamWriter } from '../relay.js';
import { sseEvent } from '../sse.js';
import { messagesError } from './error.js';

/** The events of the first answer as they came, but for the model's name in `message_start`. */
export function messagesStream(events: ModelEvents, model: string): AsyncGenerator<string> {
  return relay(events, new MessagesStream(model));
}

class MessagesStream implements StreamWriter {
  readonly #model: string;
  #text = '';
  #isStarted = false;
  #hasError = false;
  isComplete = false;

  constructor(model: string) {
    this.#model = model;
  }

  add(event: ModelEvent): void {
    if (event.choice !== 0 || this.isComplete) return;
    const special = Object.hasOwn(specials, event.type) ? specials[event.type] : undefined;
    if (special) special(event, this);
    else this.pass(event);
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  finish(): string {
    return '';
  }

  /** Nothing where the upstream's own error event has gone out. */
  fail(error: GatewayError): string {
    return this.#hasError ? '' : messagesError(error);
  }

  pass(event: ModelEvent): void {
    this.#text += sseEvent(event.type, event.data);
  }

  /** A service that tries again inside its stream sends a second start, which no client expects. */
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

const specials: Readonly<Record<string, (event: ModelEvent, stream: MessagesStream) => void>> = {
  message_start: (event, stream) => stream.start(event),
  message_stop: (event, stream) => stream.stop(event),
  error: (event, stream) => stream.error(event),
};

/** Compatible services send errors in many shapes; a client of Messages reads this one. */
function isErrorEvent(json: MessagesStreamEvent): boolean {
  if (json.type !== 'error' || !isRecord(json.error)) return false;
  return typeof json.error.type === 'string' && typeof json.error.message === 'string';
}

function underModel(event: ModelEvent, model: string): ModelEvent {
  const { json } = event;
  if (json.type !== 'message_start' || json.message.model === model) return event;
  return ModelEvent.of({ ...json, message: { ...json.message, model } });
}
