import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import {
  ModelEvent,
  errorFromEvent,
  interruptedError,
  toGatewayError,
  type GatewayError,
} from '../plugin/index.js';

/** An event larger than this is no event. */
const maxEventLength = 64 * 1024 * 1024;

/**
 * Bytes of an event stream to the events of one Messages answer: any split of the bytes gives the same events. A second
 * `message_start` and `[DONE]` are left out; nothing counts after `message_stop` or an `error` event.
 */
export class MessageReader {
  readonly #decoder = new StringDecoder('utf8');
  readonly #parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: (message) => this.#receive(message),
    onError: (error) => {
      // Unknown fields are normal; this one means that the parser takes nothing more.
      if (error.type === 'max-buffer-size-exceeded') this.#failure ??= interruptedError(error);
    },
  });
  #events: ModelEvent[] = [];
  #isFirst = true;
  #endedInCr = false;
  #isStarted = false;
  #isComplete = false;
  #failure: GatewayError | undefined;

  /** The events that these bytes complete. */
  read(bytes: Buffer): readonly ModelEvent[] {
    const text = this.#oneKindOfLineEnd(this.#decoder.write(bytes));
    if (text !== '' && !this.isOver) this.#parser.feed(text);
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** `message_stop` has been read. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** What ended the answer: an `error` event, or text that is no event. It comes after the events read before. */
  get failure(): GatewayError | undefined {
    return this.#failure;
  }

  get isOver(): boolean {
    return this.#isComplete || this.#failure !== undefined;
  }

  /** The parser waits for what follows a CR; a stream that uses it alone would always be one event late. */
  #oneKindOfLineEnd(text: string): string {
    if (text === '') return text;
    let rest = text;
    if (this.#isFirst && rest.startsWith('\uFEFF')) rest = rest.slice(1);
    this.#isFirst = false;
    if (this.#endedInCr && rest.startsWith('\n')) rest = rest.slice(1);
    this.#endedInCr = text.endsWith('\r');
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest;
  }

  #receive({ event, data }: EventSourceMessage): void {
    if (this.isOver || data === '[DONE]') return;
    const received = event === undefined ? this.#unnamed(data) : new ModelEvent(event, data);
    if (!received || this.#isRestart(received) || this.#lacksStart(received)) return;
    this.#events.push(received);
    if (received.type === 'message_stop') this.#isComplete = true;
    if (received.type === 'error') this.#failure = errorIn(received);
  }

  #isRestart({ type }: ModelEvent): boolean {
    if (type !== 'message_start') return false;
    const isRestart = this.#isStarted;
    this.#isStarted = true;
    return isRestart;
  }

  #unnamed(data: string): ModelEvent | undefined {
    try {
      return ModelEvent.unnamed(data);
    } catch (cause) {
      this.#failure = toGatewayError(cause);
      return undefined;
    }
  }

  /** An answer that does not begin with `message_start` is none. */
  #lacksStart({ type }: ModelEvent): boolean {
    if (this.#isStarted || !withinMessage.has(type)) return false;
    this.#failure = interruptedError();
    return true;
  }
}

const withinMessage: ReadonlySet<string> = new Set([
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);

function errorIn(event: ModelEvent): GatewayError {
  try {
    return errorFromEvent(event.json);
  } catch (error) {
    return toGatewayError(error);
  }
}
