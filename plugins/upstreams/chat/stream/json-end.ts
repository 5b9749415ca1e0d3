/** Finds the end of a JSON object or list that arrives in pieces, in linear time and without keeping it. */
export class JsonEnd {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasBegun = false;

  /** True once all brackets are closed again. */
  get isComplete(): boolean {
    return this.#hasBegun && this.#depth === 0;
  }

  add(piece: string): void {
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (this.#isInString) this.#readString(code);
      else if (code === quote) this.#isInString = true;
      else if (code === openBrace || code === openBracket) {
        this.#depth += 1;
        this.#hasBegun = true;
      } else if (code === closeBrace || code === closeBracket) this.#depth -= 1;
    }
  }

  #readString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#isInString = false;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
