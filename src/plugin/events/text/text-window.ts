import type { MessageDeltaEvent } from '../../contract/messages.js';

/** Kind of text in an answer; `input` is the JSON text of a tool's input. */
export type TextKind = 'text' | 'thinking' | 'input';

/** Match within a text. */
export interface TextMatch {
  readonly start: number;
  readonly end: number;
  /** Replacement text; absent: nothing. */
  readonly text?: string;
  /** Ends the answer there, with this delta of `message_delta`. */
  readonly ends?: MessageDeltaEvent['delta'];
  /** Value for `onMatch`. */
  readonly name?: string;
}

export interface TextMap {
  /** Length of the longest match in characters, 65536 at most; so much text is held back. */
  readonly hold: number;
  /** Kinds of text to search; default `['text']`. */
  readonly kinds?: readonly TextKind[];
  /** First match at or after `from`; the text before it has been output, one character at least. */
  find(text: string, from: number, kind: TextKind): TextMatch | undefined;
  /** Called once for each match; `find` may find one several times. */
  onMatch?(match: TextMatch): void;
}

/**
 * Search window over one text that arrives in pieces. Its positions depend on the text alone, so any split of
 * it gives the same output; a match is found if it is no longer than `hold`.
 */
export class TextWindow {
  readonly #map: TextMap;
  readonly #kind: TextKind;
  /** Characters that a search advances. The window has `hold` more, so a match that begins in them is complete. */
  readonly #stride: number;
  /** Up to `contextLength` characters that have been output, then the text that is held back. */
  #text = '';
  /** Position in `#text` where the held text begins. */
  #from = 0;
  #end: TextMatch['ends'];

  constructor(map: TextMap, kind: TextKind) {
    this.#map = map;
    this.#kind = kind;
    this.#stride = Math.ceil(map.hold / 4);
  }

  /** Delta that ends the answer, set by a match. */
  get end(): TextMatch['ends'] {
    return this.#end;
  }

  /** Adds a piece; returns the output. */
  write(piece: string): string {
    this.#text += piece;
    return this.#release(this.#map.hold + this.#stride);
  }

  /** Returns the rest, at the end of the text. */
  flush(): string {
    return this.#release(1);
  }

  /** Searches while at least `length` characters are held. */
  #release(length: number): string {
    let out = '';
    while (this.#text.length - this.#from >= length && !this.#end) out += this.#search();
    const kept = this.#end ? this.#text.length : Math.max(0, this.#from - contextLength);
    this.#text = this.#text.slice(kept);
    this.#from = this.#end ? 0 : this.#from - kept;
    return out;
  }

  #search(): string {
    const base = Math.max(0, this.#from - contextLength);
    const from = this.#from - base;
    const text = this.#text.slice(base, this.#from + this.#map.hold + this.#stride);
    const next = wholeCharacters(text, Math.min(from + this.#stride, text.length));
    const match = this.#map.find(text, from, this.#kind);
    const isHere = match && match.start >= from && match.start < next && match.end > match.start;
    this.#from = base + (isHere ? Math.min(match.end, text.length) : next);
    if (!isHere) return text.slice(from, next);
    this.#end = match.ends;
    this.#map.onMatch?.(match);
    return text.slice(from, match.start) + (match.text ?? '');
  }
}

/** Characters kept before the held text, for word boundaries. */
const contextLength = 8;

/** Moves a position out of the middle of a surrogate pair. */
function wholeCharacters(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before < 0xdc00 && at < text.length ? at + 1 : at;
}
