import { fromByteText, ModelEvent, plainDeltaEnd, type ByteText, type WireLines } from '../plugin/index.js';

export interface EventLinesOptions {
  readonly onEvent: (event: ModelEvent) => void;
  /** One without a name. */
  readonly onUnnamed: (data: string) => void;
}

/**
 * Lines of an event stream to its events. Nearly all are written in the usual way, a name, one line of JSON and an empty
 * line, and are cut out in one piece; others are read line by line, as the specification says.
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

  /** Memory of the data that waits for the end of its event. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Takes whole lines, each ended by a line feed. */
  feed(lines: WireLines): void {
    const { bytes } = lines;
    for (let at = 0; at < bytes.length;) {
      const next = this.#isOpen ? at : this.#cut(lines, at);
      at = next > at ? next : this.#readLine(bytes, at);
    }
  }

  /** Where the event that begins here ends; `at` itself where it is not in the usual way. */
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

/** A text to which a line was added is an object of this size beside its parts, though the line be empty. */
const bytesPerLine = 32;

const usual = /event: ([ -~]+)\ndata: \{[^\n]*\n\n/y;

/**
 * Names are compared all along an event's way: one that was cut out of a text would be compared character by character,
 * and could be looked up only after it was made a key.
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
