import { CollectedBytes } from '../../../plugin/raw/index.js';

/** Body of an event stream that is one JSON text and has no events: some servers label their errors so. */
export class BareJson {
  #hasEvents = false;
  #collected: CollectedBytes | undefined;
  #isTooLong = false;
  #text: string | undefined;

  /** True for bytes of such a text, which are kept up to a limit; the first byte of the body decides. */
  takes(bytes: Buffer): boolean {
    if (this.#hasEvents) return false;
    if (!this.#collected) {
      const first = bytes.find((byte) => byte > 0x20 && !byteOrderMark.includes(byte));
      if (first === undefined) return false;
      this.#hasEvents = first !== brace && first !== bracket;
      if (this.#hasEvents) return false;
      this.#collected = new CollectedBytes();
    }
    this.#isTooLong ||= this.#collected.length + bytes.length > maxBytes;
    if (this.#isTooLong) this.#collected.clear();
    else this.#collected.add(bytes);
    return true;
  }

  /** The whole text; undefined for a body of events, and for a text that is too long. */
  get text(): string | undefined {
    if (!this.#collected || this.#isTooLong) return undefined;
    this.#text ??= new TextDecoder().decode(this.#collected.take()); // without the byte order mark
    return this.#text;
  }
}

const brace = 0x7b;
const bracket = 0x5b;
const byteOrderMark = Buffer.from('\uFEFF');
const maxBytes = 64 * 1024;
