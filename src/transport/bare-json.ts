/** Body of an event stream that is one JSON text and has no events: some servers label their errors so. */
export class BareJson {
  #hasEvents = false;
  #pieces: Buffer[] | undefined;
  #length = 0;

  /** True for bytes of such a text, which are kept up to a limit; the first byte of the body decides. */
  takes(bytes: Buffer): boolean {
    if (this.#hasEvents) return false;
    if (!this.#pieces) {
      const first = bytes.find((byte) => byte > 0x20 && !byteOrderMark.includes(byte));
      if (first === undefined) return false;
      this.#hasEvents = first !== brace && first !== bracket;
      if (this.#hasEvents) return false;
      this.#pieces = [];
    }
    this.#length += bytes.length;
    if (this.#length <= maxBytes) this.#pieces.push(bytes);
    return true;
  }

  /** The whole text; undefined for a body of events, and for a text that is too long. */
  get text(): string | undefined {
    if (!this.#pieces || this.#length > maxBytes) return undefined;
    return new TextDecoder().decode(Buffer.concat(this.#pieces)); // without the byte order mark
  }
}

const brace = 0x7b;
const bracket = 0x5b;
const byteOrderMark = Buffer.from('\uFEFF');
const maxBytes = 64 * 1024;
