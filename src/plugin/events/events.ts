import { GatewayError } from '../contract/error.js';
import { deltaText } from './text/delta-text.js';
import { invalidPath } from './event-shape.js';
import type { MessagesStreamEvent } from '../contract/messages.js';
import { isTooDeep } from '../http/parse-json.js';
import { keepEventInputs } from '../inputs/body-inputs.js';
import { jsonWithInputs } from '../inputs/inputs-json.js';
import { cutPlainDelta, deltaEvent, type PlainDelta } from '../raw/plain-delta.js';
import { textOf, type RawLines, type BinaryStringBuilder } from '../raw/binary-string.js';

/** Batch: the events of one network read. Handling each event alone would be the main cost of a stream. */
export type ModelEventBatch = readonly ModelEvent[];

/**
 * Streaming reply: batches of events. Iterating to the end, throwing or `return()` ends the upstream call.
 */
export type ModelEvents = AsyncIterable<ModelEventBatch>;

/** Event of a Messages stream: its text as received, its JSON parsed lazily. */
export class ModelEvent {
  readonly type: string;
  /** Index of the answer that it belongs to; 0 except for `n` > 1 and several prompts. */
  readonly choice: number;
  #data: string | undefined;
  #json: MessagesStreamEvent | undefined;
  /** Received lines that hold it: its name, its data in one line, and an empty line. */
  #lines: RawLines | undefined;
  #from = 0;
  #to = 0;
  #isPlain = false;
  #delta: PlainDelta | undefined;

  /** `data`: the JSON text of the event; `json`: its value if known. One of them must be given. */
  constructor(type: string, data: string | undefined, json?: MessagesStreamEvent, choice = 0) {
    this.type = type;
    this.choice = choice;
    this.#data = data;
    this.#json = json;
  }

  /** An event made here rather than received. */
  static of(json: MessagesStreamEvent, choice = 0): ModelEvent {
    return new ModelEvent(json.type, undefined, json, choice);
  }

  /** Event received without a name. Throws as `json` does. */
  static unnamed(data: string): ModelEvent {
    const json = parseEvent(data);
    return new ModelEvent(json.type, data, json);
  }

  /**
   * Event within received lines, from one offset to another: its name in ASCII, one line of data, an empty
   * line.
   */
  static received(type: string, lines: RawLines, from: number, to: number): ModelEvent {
    const event = new ModelEvent(type, undefined);
    event.#lines = lines;
    event.#from = from;
    event.#to = to;
    return event;
  }

  /** Text delta within received lines, up to its `plainDeltaEnd`. */
  static plain(lines: RawLines, from: number, to: number): ModelEvent {
    const event = ModelEvent.received('content_block_delta', lines, from, to);
    event.#isPlain = true;
    return event;
  }

  /** Memory of a batch, in bytes: its events, and their text, which all events of one read share. */
  static heldBytes(batch: ModelEventBatch): number {
    let length = batch.length * eventBytes;
    let counted: RawLines | undefined;
    for (const event of batch) {
      if (!event.#lines) length += event.data.length;
      else if (event.#lines !== counted) length += event.#lines.bytes.length;
      counted = event.#lines ?? counted;
    }
    return length;
  }

  /** The JSON text, byte for byte as the upstream sent it unless a stage replaced the event. */
  get data(): string {
    return (this.#data ??= this.#lines
      ? textOf(this.#lines, this.#from + framingLength(this.type), this.#to - 2)
      : this.type === 'content_block_start' || this.type === 'message_start'
        ? jsonWithInputs(this.#json)
        : JSON.stringify(this.#json));
  }

  /**
   * The parsed event. Throws `upstream_interrupted` if the upstream sent invalid JSON, or an invalid event of
   * this type.
   */
  get json(): MessagesStreamEvent {
    return (this.#json ??= this.delta ? deltaEvent(this.delta) : parseEvent(this.data, this.type));
  }

  /** Content of a text delta that needs no JSON parsing; undefined for all other events. */
  get delta(): PlainDelta | undefined {
    if (!this.#isPlain || !this.#lines) return undefined;
    return (this.#delta ??= cutPlainDelta(this.#lines, this.#from, this.#to));
  }

  /** True for an event with a text; that of an event made here is written when it is first read. */
  get isReceived(): boolean {
    return this.#lines !== undefined || this.#data !== undefined;
  }

  /** Bytes of the event as received; those of its output for a delta made here. */
  get size(): number {
    if (this.#lines) return this.#to - this.#from;
    if (this.#data !== undefined) return Buffer.byteLength(this.#data);
    return this.#json?.type === 'content_block_delta' ? Buffer.byteLength(deltaText(this.#json.delta)) : 0;
  }

  /** Copies the event to `text` as received; false if it was not received from an upstream. */
  copyTo(text: BinaryStringBuilder): boolean {
    if (!this.#lines) return false;
    text.copy(this.#lines, this.#from, this.#to);
    return true;
  }

  /** The same event under another choice. */
  withChoice(choice: number): ModelEvent {
    if (choice === this.choice) return this;
    const event = new ModelEvent(this.type, this.#data, this.#json, choice);
    event.#lines = this.#lines;
    event.#from = this.#from;
    event.#to = this.#to;
    event.#isPlain = this.#isPlain;
    return event;
  }
}

/** Size of an event object in bytes, without its text. */
const eventBytes = 128;

/** Number of characters before the data of an event with this name. */
function framingLength(type: string): number {
  return 'event: '.length + type.length + '\ndata: '.length;
}

/**
 * Parses and validates an event. `name`: its SSE event name; without one, the data has the type, or is a bare
 * error.
 */
function parseEvent(data: string, name?: string): MessagesStreamEvent {
  const value = parseObject(data, name);
  const type = name ?? typeOf(value);
  const event = value['type'] === undefined ? { ...value, type } : value;
  const invalid = event['type'] === type ? invalidPath(event) : 'type';
  if (isTooDeep(event, data)) throw malformed(type, 'that is nested too deeply');
  if (invalid !== undefined) throw malformed(type, `with an invalid "${invalid}"`);
  if (type === 'content_block_start' || type === 'message_start') keepEventInputs(event, data);
  return event as unknown as MessagesStreamEvent; // validated above
}

function parseObject(data: string, name = 'nameless'): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(data);
    // Any object may be read by name.
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw malformed(name, 'that is not a JSON object', cause);
  }
  throw malformed(name, 'that is not a JSON object');
}

function typeOf({ type, error }: Readonly<Record<string, unknown>>): string {
  if (typeof type === 'string') return type;
  return error === undefined ? 'message' : 'error';
}

function malformed(name: string, what: string, cause?: unknown): GatewayError {
  return new GatewayError('upstream_interrupted', `The upstream sent a "${name}" event ${what}.`, {
    failure: { kind: 'interrupted' },
    cause,
  });
}
