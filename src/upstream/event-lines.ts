import { fromByteText, ModelEvent, plainDeltaEnd, type ByteText, type WireLines } from '../plugin/index.js';

export interface EventLinesOptions {
  readonly onEvent: (event: ModelEvent) => void;
  /** Receives an event without a name. */
  readonly onUnnamed: (data: string) => void;
}

/**
 * Parser from the lines of an event stream to its events. An event in the usual form (a name, one line of
 * JSON, an empty line) is cut out in one piece; any other is parsed line by line, by the specification.
 */
export class EventLines {
  readonly #options: EventLinesOptions;
  #name = '';
  #data: string | undefined;
  #isOpen = false;
  #heldBytes = 0;

  constructor(options: EventLinesOptions) {
    this.#options = options;
  }

  /** Bytes of memory held by the data of an event that is not complete yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Parses complete lines, each ended by a line feed. */
  feed(lines: WireLines): void {
    const { bytes } = lines;
    for (let at = 0; at < bytes.length;) {
      const next = this.#isOpen ? at : this.#cut(lines, at);
      at = next > at ? next : this.#readLine(bytes, at);
    }
  }

  /** End of the event that begins at `at`; `at` itself if the event is not in the usual form. */
  #cut(lines: WireLines, at: number): number {
    const plainEnd = plainDeltaEnd(lines.bytes, at);
    if (plainEnd > at) {
      this.#options.onEvent(ModelEvent.plain(lines, at, plainEnd));
      return plainEnd;
    }
    usual.lastIndex = at;
    const name = usual.exec(lines.bytes)?.[1];
    if (name === undefined) return at;
    const end = usual.lastIndex;
    this.#options.onEvent(ModelEvent.received(known(name), lines, at, end));
    return end;
  }

  #readLine(bytes: ByteText, at: number): number {
    const end = bytes.indexOf('\n', at);
    if (end === at) this.#close();
    else this.#readField(fromByteText(bytes.slice(at, end) as ByteText)); // a part of bytes
    return end + 1;
  }

  #readField(line: string): void {
    this.#isOpen = true;
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#name = value;
    if (field !== 'data') return;
    this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    this.#heldBytes += value.length + bytesPerLine;
  }

  #close(): void {
    const name = this.#name;
    const data = this.#data;
    this.#name = '';
    this.#data = undefined;
    this.#heldBytes = 0;
    this.#isOpen = false;
    if (data === undefined || data === '[DONE]') return;
    if (name === '') this.#options.onUnnamed(data);
    else this.#options.onEvent(new ModelEvent(known(name), data));
  }
}

/**
 * Overhead in bytes of each line added to a text, even an empty one: V8 makes an object that links the parts.
 */
const bytesPerLine = 32;

const usual = /event: ([ -~]+)\ndata: \{[^\n]*\n\n/y;

/**
 * Interned event names: a name sliced from a text would be compared character by character, and internalized
 * for each look-up.
 */
const names = new Map(
  [
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
    'ping',
    'error',
  ].map((name) => [name, name]),
);

function known(name: string): string {
  return names.get(name) ?? name;
}
