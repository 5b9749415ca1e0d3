/** Reader of chosen parts of a valid JSON text in UTF-8; it skips the others without parsing them. */
export class JsonCursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    if (bytes[0] === 0xef) this.#at = 3; // a byte order mark
  }

  /** Reads an object, and each member of this name by `read`; skips any other value. */
  member(name: string, read: () => void): void {
    if (this.#next() !== brace) return this.#pass();
    const key = `"${name}"`;
    this.#list(() => {
      const isIt = this.value() === key;
      this.#next();
      this.#at += 1; // the colon
      if (isIt) read();
      else this.#pass();
    });
  }

  /** Reads an object, each member by `read`, which is given its name; skips any other value. */
  members(read: (name: string) => void): void {
    if (this.#next() !== brace) return this.#pass();
    this.#list(() => {
      const name = JSON.parse(this.value()) as string; // a key
      this.#next();
      this.#at += 1; // the colon
      read(name);
    });
  }

  /** Reads the items of a list, each by `read`; skips any other value. */
  items(read: (index: number) => void): void {
    if (this.#next() !== bracket) return this.#pass();
    let index = 0;
    this.#list(() => {
      read(index);
      index += 1;
    });
  }

  /** Byte ranges of the items of a list, from the one at `from` on. */
  itemRanges(from = 0): readonly (readonly [start: number, end: number])[] {
    const ranges: [number, number][] = [];
    for (this.#at = from; ; this.#at += 1) {
      this.#next();
      const start = this.#at;
      this.#pass();
      ranges.push([start, this.#at]);
      if (this.#bytes[this.#at] !== comma) return ranges;
    }
  }

  /** Offset of the bracket that closes the list with an item at `from`; undefined if there is none. */
  endOfList(from: number): number | undefined {
    this.itemRanges(from);
    return this.#bytes[this.#at] === closingBracket ? this.#at : undefined;
  }

  /** Text of the next value. */
  value(): string {
    this.#next();
    const from = this.#at;
    this.#pass();
    return this.#bytes.toString('utf8', from, this.#at).trimEnd();
  }

  /** Reads the items of a list or an object, between its commas. */
  #list(read: () => void): void {
    this.#at += 1;
    while (!isEnd(this.#next())) {
      const from = this.#at;
      if (this.#bytes[from] !== comma) read();
      if (this.#at === from) this.#at += 1;
    }
    this.#at += 1;
  }

  /** Skips a value. */
  #pass(): void {
    let depth = 0;
    this.#next();
    for (; this.#at < this.#bytes.length; this.#at += 1) {
      const byte = this.#bytes[this.#at];
      if (byte === quote) this.#passString();
      else if (byte === brace || byte === bracket) depth += 1;
      else if (isEnd(byte) || byte === comma || byte === colon) {
        if (depth === 0) return;
        if (isEnd(byte)) depth -= 1;
      }
    }
  }

  /** Moves from the opening quote of a string to its closing one. */
  #passString(): void {
    let end = this.#at;
    do end = this.#bytes.indexOf(quote, end + 1);
    while (end !== -1 && this.#isEscaped(end));
    this.#at = end === -1 ? this.#bytes.length : end;
  }

  #isEscaped(at: number): boolean {
    let from = at;
    while (this.#bytes[from - 1] === backslash) from -= 1;
    return (at - from) % 2 === 1;
  }

  /** Next byte that is not white space; undefined at the end. */
  #next(): number | undefined {
    while (whiteSpace.has(this.#bytes[this.#at] ?? NaN)) this.#at += 1;
    return this.#bytes[this.#at];
  }
}

function isEnd(byte: number | undefined): boolean {
  return byte === undefined || byte === closingBrace || byte === closingBracket;
}

const whiteSpace: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const bracket = 0x5b;
const backslash = 0x5c;
const closingBracket = 0x5d;
const brace = 0x7b;
const closingBrace = 0x7d;
