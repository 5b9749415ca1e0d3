import {
  GatewayError,
  ModelEvent,
  errorFromEvent,
  interruptedError,
  isGatewayError,
  toGatewayError,
} from '../plugin/index.js';
import { EventLines } from './event-lines.js';
import { WholeLines } from './whole-lines.js';

/** As long as the longest whole message may be: what is longer is no event. */
const maxEventBytes = 32 * 1024 * 1024;

/**
 * Bytes of an event stream to the events of one Messages answer: any split of the bytes gives the same events. A second
 * `message_start` and `[DONE]` are left out; nothing counts after `message_stop` or an `error` event.
 */
export class MessageReader {
  readonly #bytes = new WholeLines();
  readonly #lines = new EventLines({
    onEvent: (event) => this.#receive(event),
    onUnnamed: (data) => this.#receiveUnnamed(data),
  });
  #events: ModelEvent[] = [];
  #isStarted = false;
  #isComplete = false;
  #isEnding = false;
  #failure: GatewayError | undefined;

  /** The events that these bytes complete. */
  read(bytes: Buffer): readonly ModelEvent[] {
    if (this.isOver) return [];
    this.#lines.feed(this.#bytes.read(bytes));
    if (this.#bytes.heldLength + this.#lines.heldBytes > maxEventBytes) this.#failure ??= tooLong();
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** The event that a clean end completes: a last one without its empty line, where all of it is there. */
  finish(): readonly ModelEvent[] {
    this.#isEnding = true;
    return this.read(emptyLine);
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

  #receive(event: ModelEvent): void {
    if (this.isOver || (this.#isEnding && !isWhole(event))) return;
    if (this.#isRestart(event) || this.#lacksStart(event)) return;
    this.#events.push(event);
    if (event.type === 'message_stop') this.#isComplete = true;
    if (event.type === 'error') this.#failure = errorIn(event);
  }

  #receiveUnnamed(data: string): void {
    if (this.isOver) return;
    try {
      this.#receive(ModelEvent.unnamed(data));
    } catch (cause) {
      this.#failure = toGatewayError(cause);
    }
  }

  #isRestart({ type }: ModelEvent): boolean {
    if (type !== 'message_start') return false;
    const isRestart = this.#isStarted;
    this.#isStarted = true;
    return isRestart;
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

const emptyLine = Buffer.from('\n\n');

/** Half an event is no JSON. */
function isWhole(event: ModelEvent): boolean {
  try {
    return event.json.type === event.type;
  } catch (error) {
    if (isGatewayError(error)) return false;
    throw error;
  }
}

function tooLong(): GatewayError {
  const message = `The upstream sent an event of more than ${maxEventBytes / 1024 / 1024} MB.`;
  return new GatewayError('upstream_invalid_response', message, { failure: { kind: 'foreign' } });
}

function errorIn(event: ModelEvent): GatewayError {
  try {
    return errorFromEvent(event.json);
  } catch (error) {
    return toGatewayError(error);
  }
}
