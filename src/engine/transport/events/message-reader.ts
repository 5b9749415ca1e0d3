import { GatewayError, ModelEvent, isGatewayError, toGatewayError } from '../../../plugin/index.js';
import { errorFromEvent, interruptedError } from '../../../plugin/format/index.js';
import { isErrorBody, jsonFields } from '../../../plugin/upstream/index.js';
import { MessageMender } from '../../../plugin/core.js';
import { BareJson } from './bare-json.js';
import type { BodyReader } from '../body.js';
import { EventParser } from './event-parser.js';
import { WholeEvents } from './whole-events.js';

/** Max size of an event, that of the longest whole message. */
const maxEventBytes = 32 * 1024 * 1024;

/**
 * Parser from the bytes of an event stream to the events of one Messages answer; any split of the bytes gives the same
 * events, repaired if the service only resembles the Messages API. Skips `[DONE]`, and all after `message_stop` or an
 * `error` event.
 */
export class MessageReader implements BodyReader {
  readonly #bare = new BareJson();
  readonly #bytes = new WholeEvents();
  readonly #parser = new EventParser({
    onEvent: (event) => this.#receive(event),
    onUnnamed: (data) => this.#receiveUnnamed(data),
    maxEventBytes,
    onTooLong: () => this.#refuseLength(),
  });
  readonly #mender: MessageMender;
  #events: ModelEvent[] = [];
  #isStarted = false;
  #isComplete = false;
  #isEnding = false;
  #failure: GatewayError | undefined;

  /** `requestBytes`: size of the request, from which uncounted tokens are estimated. */
  constructor(requestBytes = 0) {
    this.#mender = new MessageMender(requestBytes);
  }

  /** Parses bytes and returns the events that they complete. */
  read(bytes: Buffer): readonly ModelEvent[] {
    if (this.isOver || this.#bare.takes(bytes)) return [];
    const whole = this.#bytes.read(bytes);
    if (whole.length > 0) {
      this.#mender.mayHaveHalves = hasSurrogates(whole);
      this.#parser.feed(whole);
    }
    if (this.#bytes.heldBytes > maxEventBytes) this.#refuseLength();
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Releases the bytes of the events that were read last, which have been passed on. */
  release(): void {
    this.#parser.release();
  }

  /** Ends the stream cleanly and returns its last event, if that is complete except for its empty line. */
  finish(): readonly ModelEvent[] {
    this.#isEnding = true;
    this.#failure ??= bareError(this.#bare.text);
    return this.read(emptyLine);
  }

  /** True once `message_stop` has been read. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /**
   * Failure that ended the answer, an `error` event or text that is not an event; follows the events before it.
   */
  get failure(): GatewayError | undefined {
    return this.#failure;
  }

  get isOver(): boolean {
    return this.#isComplete || this.#failure !== undefined;
  }

  #receive(event: ModelEvent): void {
    if (this.isOver || (this.#isEnding && !isWhole(event))) return;
    if (event.type === 'error') return this.#fail(event);
    if (event.type === 'message_start') this.#isStarted = true;
    else if (this.#lacksStart(event)) return;
    if (event.type === 'content_block_delta' && this.#mender.passesDeltas) this.#events.push(event);
    else if (!this.#mend(event)) return;
    if (event.type === 'message_stop') this.#isComplete = true;
  }

  /** Ends the answer with an error event, which some servers send as a plain text. */
  #fail(event: ModelEvent): void {
    const { event: readable, error } = readErrorEvent(event);
    this.#events.push(readable);
    this.#failure = error;
  }

  /** False if the event has failed the answer. */
  #mend(event: ModelEvent): boolean {
    try {
      this.#mender.add(event, this.#events);
      return true;
    } catch (error) {
      this.#failure = toGatewayError(error);
      return false;
    }
  }

  #receiveUnnamed(data: string): void {
    if (this.isOver) return;
    try {
      this.#receive(ModelEvent.unnamed(data));
    } catch (cause) {
      this.#failure = toGatewayError(cause);
    }
  }

  #refuseLength(): void {
    this.#failure ??= tooLong();
  }

  /** True, and fails the answer, if it does not begin with `message_start`. */
  #lacksStart({ type }: ModelEvent): boolean {
    if (this.#isStarted || !withinMessage.has(type)) return false;
    this.#failure = interruptedError();
    return true;
  }
}

/** True if the escape of a surrogate may be in the bytes, the only way for half of a pair through JSON. */
function hasSurrogates(bytes: Buffer): boolean {
  return bytes.includes(backslash) && (bytes.includes(lowerEscape) || bytes.includes(upperEscape));
}

const backslash = 0x5c; // one byte is sought by memchr, without the set-up of a search
const lowerEscape = Buffer.from(String.raw`\ud`);
const upperEscape = Buffer.from(String.raw`\uD`);

const withinMessage: ReadonlySet<string> = new Set([
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);

const emptyLine = Buffer.from('\n\n');

/** Error for an incomplete event or a plain text, which are not JSON. */
function isWhole(event: ModelEvent): boolean {
  if (event.type === 'error' && !/^\s*[{[]/.test(event.data)) return true;
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

function readErrorEvent(event: ModelEvent): { event: ModelEvent; error: GatewayError } {
  try {
    return { event, error: errorFromEvent(event.json) };
  } catch (thrown) {
    if (isGatewayError(thrown) && thrown.failure?.kind === 'foreign') return { event, error: thrown };
    const { type, message } = errorFromEvent({ type: 'error', error: event.data }); // not JSON: the server's words
    const body = { type: 'error', error: { type, message } } as const;
    return { event: ModelEvent.of(body), error: errorFromEvent(body) };
  }
}

/** Error of a JSON text instead of events; undefined for another text. */
function bareError(text: string | undefined): GatewayError | undefined {
  const body = text === undefined ? {} : jsonFields(text);
  return isErrorBody(body) ? errorFromEvent({ ...body, type: 'error' }) : undefined;
}
