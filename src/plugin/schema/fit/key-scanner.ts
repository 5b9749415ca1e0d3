import type { KeyNames } from './root-keys.js';

/** Max length of the text of a key that may be one of ours: 64 characters, each written as an escape. */
const maxKeyText = 64 * 6 + 2;

/**
 * Renames the keys of the outermost object of a JSON text that arrives in pieces; the rest stays byte for byte. The
 * text may be cut at any place.
 */
export class KeyScanner {
  readonly #names: KeyNames;
  #depth = 0;
  #isObject = false;
  #expectsKey = false;
  #inString = false;
  #isEscaped = false;
  /** Text of the key being read. */
  #key: string | undefined;

  /** `names`: new names by those in the text. */
  constructor(names: KeyNames) {
    this.#names = names;
  }

  /** The next piece under the new names; a key is held back until its end has arrived. */
  push(piece: string): string {
    let out = '';
    let start = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const wasKey = this.#key !== undefined;
      const isQuote = this.#step(piece[at] ?? '');
      if (!wasKey && this.#key !== undefined) {
        out += piece.slice(start, at);
        start = at;
      } else if (wasKey && isQuote) {
        out += this.#named(this.#key + piece.slice(start, at + 1));
        start = at + 1;
        this.#key = undefined;
      }
    }
    return out + this.#hold(piece.slice(start));
  }

  /** The rest of a text that has ended within a key. */
  end(): string {
    const rest = this.#key ?? '';
    this.#key = undefined;
    return rest;
  }

  #hold(rest: string): string {
    if (this.#key === undefined) return rest;
    this.#key += rest;
    if (this.#key.length <= maxKeyText) return '';
    return this.end();
  }

  /** Reads a character; true for the quote at the end of a string. */
  #step(character: string): boolean {
    if (this.#inString) return this.#stepInString(character);
    switch (character) {
      case '"':
        this.#inString = true;
        if (this.#expectsKey && this.#depth === 1 && this.#isObject) this.#key = '';
        this.#expectsKey = false;
        break;
      case '{':
      case '[':
        this.#depth += 1;
        if (this.#depth === 1) this.#isObject = character === '{';
        this.#expectsKey = this.#depth === 1;
        break;
      case '}':
      case ']':
        this.#depth -= 1;
        break;
      case ',':
        this.#expectsKey = this.#depth === 1;
        break;
    }
    return false;
  }

  #stepInString(character: string): boolean {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === '\\') this.#isEscaped = true;
    else if (character === '"') {
      this.#inString = false;
      return true;
    }
    return false;
  }

  #named(text: string): string {
    const name = this.#names.get(parsedKey(text));
    return name === undefined ? text : JSON.stringify(name);
  }
}

function parsedKey(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return ''; // not JSON: no name of ours
  }
}
