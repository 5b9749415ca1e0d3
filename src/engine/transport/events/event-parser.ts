import { isAscii } from 'node:buffer';
import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser';
import {
  fromBinaryString,
  plainDeltaEnd,
  type BinaryString,
  type RawLines,
} from '../../../plugin/raw/index.js';
import { ModelEvent } from '../../../plugin/index.js';
import { textOf } from '../../../plugin/core.js';

interface EventParserOptions {
  readonly onEvent: (event: ModelEvent) => void;
  /** Receives an event without a name. */
  readonly onUnnamed: (data: string) => void;
  /** Called for `[DONE]`. */
  readonly onDone?: () => void;
  /** Max size of an event. */
  readonly maxEventBytes: number;
  readonly onTooLong: () => void;
}

/**
 * Parser from the bytes of complete events to the events. One in the usual form (an optional name, one line of JSON, an
 * empty line) is cut out in one piece; any other is passed to eventsource-parser whole.
 */
export class EventParser {
  readonly #options: EventParserOptions;
  /** Opened for the first event that is not in the usual form. */
  #parser: EventSourceParser | undefined;
  #hasBareCr = false;
  #lines: RawLines | undefined;

  constructor(options: EventParserOptions) {
    this.#options = options;
  }

  /** Parses complete events. After a line end of CR alone, eventsource-parser parses the rest of the stream. */
  feed(events: Buffer): void {
    const text = events.toString('latin1') as BinaryString; // decoded byte by byte
    const bytes = this.#hasBareCr ? undefined : withLineFeeds(text);
    this.#hasBareCr = bytes === undefined;
    if (bytes === undefined) this.#parse(text);
    else {
      this.#lines = { bytes, received: bytes === text ? events : undefined, isAscii: isAscii(events) };
      this.#cutEvents(this.#lines);
    }
  }

  /** Releases the received bytes of the last events; their text stays. */
  release(): void {
    if (this.#lines) this.#lines.received = undefined;
    this.#lines = undefined;
  }

  #cutEvents(lines: RawLines): void {
    const { bytes } = lines;
    for (let at = 0; at < bytes.length;) {
      let end = this.#cut(lines, at);
      if (end === at) {
        end = eventEnd(bytes, at);
        this.#parse(bytes.slice(at, end) as BinaryString); // a slice of a BinaryString
      }
      at = end;
    }
  }

  /** End of the event that begins at `at`; `at` itself if the event is not in the usual form. */
  #cut(lines: RawLines, at: number): number {
    const plainEnd = plainDeltaEnd(lines.bytes, at);
    if (plainEnd > at) {
      this.#options.onEvent(ModelEvent.plain(lines, at, plainEnd));
      return plainEnd;
    }
    const name = nameAt(lines.bytes, at);
    if (name === undefined) return this.#cutUnnamed(lines, at);
    const end = dataEnd(lines.bytes, at + field.length + name.length);
    if (end === -1) return at;
    this.#options.onEvent(ModelEvent.received(name, lines, at, end));
    return end;
  }

  /** As `#cut`, for an event of one line of data. */
  #cutUnnamed(lines: RawLines, at: number): number {
    const { bytes } = lines;
    if (!bytes.startsWith(unnamed, at)) return at;
    const end = bytes.indexOf('\n', at);
    if (end === -1 || bytes.charCodeAt(end + 1) !== lineFeed) return at;
    this.#options.onUnnamed(textOf(lines, at + unnamed.length - 1, end));
    return end + 2;
  }

  /** Ends a last line at its CR at once; an LF at the start of the next read then is a superfluous empty line. */
  #parse(events: BinaryString): void {
    const text = fromBinaryString(events);
    this.#parser ??= this.#openParser();
    this.#parser.feed(text.endsWith('\r') ? `${text}\n` : text);
  }

  #openParser(): EventSourceParser {
    const { maxEventBytes, onTooLong } = this.#options;
    return createParser({
      onEvent: (message) => this.#receive(message),
      maxBufferSize: maxEventBytes,
      onError: ({ type }) => type === 'max-buffer-size-exceeded' && onTooLong(),
    });
  }

  /** Ignores an event without data. */
  #receive({ event, data }: EventSourceMessage): void {
    if (data.trim() === '') return;
    if (data === '[DONE]') this.#options.onDone?.();
    else if (event === undefined) this.#options.onUnnamed(data);
    else this.#options.onEvent(new ModelEvent(known(event), data));
  }
}

/** Start of an event without a name. */
const unnamed = 'data: {';

/** Start of an event with a name. */
const field = 'event: ';

/** Name of an event at the start of its lines; undefined if it has none, or none of printable ASCII. */
function nameAt(bytes: BinaryString, at: number): string | undefined {
  if (!bytes.startsWith(field, at)) return undefined;
  const start = at + field.length;
  const end = bytes.indexOf('\n', start);
  for (const name of namesOfLength[end - start] ?? []) if (bytes.startsWith(name, start)) return name;
  const other = bytes.slice(start, Math.max(start, end));
  return /^[ -~]+$/.test(other) ? other : undefined;
}

/** End of an event whose name ends at `nameEnd`, if one line of data and an empty line follow; otherwise -1. */
function dataEnd(bytes: BinaryString, nameEnd: number): number {
  if (!bytes.startsWith('\ndata: {', nameEnd)) return -1;
  const end = bytes.indexOf('\n', nameEnd + 1);
  return end !== -1 && bytes.charCodeAt(end + 1) === lineFeed ? end + 2 : -1;
}

/**
 * The bytes with each CRLF as LF; undefined if there is a CR alone. One at the end does not count: the first byte
 * of the next read may be its LF.
 */
function withLineFeeds(bytes: BinaryString): BinaryString | undefined {
  if (!bytes.includes('\r')) return bytes;
  for (let at = bytes.indexOf('\r'); at !== -1; at = bytes.indexOf('\r', at + 1))
    if (at + 1 < bytes.length && bytes.charCodeAt(at + 1) !== lineFeed) return undefined;
  const text = bytes.endsWith('\r') ? `${bytes}\n` : bytes;
  return text.replaceAll('\r', '') as BinaryString; // a BinaryString with some characters left out
}

const lineFeed = 0x0a;

/** End of the event, or of the empty line, that begins at `at`. */
function eventEnd(bytes: BinaryString, at: number): number {
  if (bytes.charAt(at) === '\n') return at + 1;
  const emptyLine = bytes.indexOf('\n\n', at);
  return emptyLine === -1 ? bytes.length : emptyLine + 2;
}

/**
 * Interned event names: a name sliced from a text would be compared character by character, and internalized
 * for each look-up.
 */
const names = [
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
] as const;

const namesOfLength: readonly (readonly string[])[] = Array.from({ length: 20 }, (_, length) =>
  names.filter((name) => name.length === length),
);

function known(name: string): string {
  return names.find((each) => each === name) ?? name;
}
