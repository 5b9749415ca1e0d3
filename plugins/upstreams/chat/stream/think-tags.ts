import type { LatePart } from './late-text.js';

const open = '<think>';
const close = '</think>';

/** Max length of the white space before an opening tag. */
const maxBlank = 100;

/**
 * Thinking that a server has left in its content, in tags at the very start, split over pieces in any way. All other
 * text is passed on unchanged.
 */
export class ThinkTags {
  #state: 'start' | 'thinking' | 'text' = 'start';
  /** Text that may be the beginning of a tag. */
  #held = '';

  /** Parts of the answer that a piece of the content completes. */
  read(piece: string): readonly LatePart[] {
    if (this.#state === 'text') return [{ kind: 'text', text: piece }];
    const text = this.#held + piece;
    this.#held = '';
    return this.#state === 'start' ? this.#readStart(text) : this.#readThinking(text);
  }

  /** Held text, if the content is interrupted or ends; nothing after it is thinking. */
  end(): readonly LatePart[] {
    const kind = this.#state === 'thinking' ? 'thinking' : 'text';
    const text = this.#held;
    this.#state = 'text';
    this.#held = '';
    return [{ kind, text }];
  }

  #readStart(text: string): readonly LatePart[] {
    const first = text.search(/\S/);
    const begin = first < 0 ? text.length : first;
    if (text.startsWith(open, begin)) {
      this.#state = 'thinking';
      return this.#readThinking(text.slice(begin + open.length));
    }
    const mayOpen = begin <= maxBlank && open.startsWith(text.slice(begin, begin + open.length));
    if (mayOpen) this.#held = text;
    else this.#state = 'text';
    return mayOpen ? [] : [{ kind: 'text', text }];
  }

  #readThinking(text: string): readonly LatePart[] {
    const end = text.indexOf(close);
    if (end >= 0) {
      this.#state = 'text';
      return [
        { kind: 'thinking', text: text.slice(0, end) },
        { kind: 'text', text: text.slice(end + close.length) },
      ];
    }
    const kept = beginningAtEnd(text);
    this.#held = text.slice(text.length - kept);
    return [{ kind: 'thinking', text: text.slice(0, text.length - kept) }];
  }
}

/** Length of the longest end of a text that is a beginning of the closing tag. */
function beginningAtEnd(text: string): number {
  for (let length = Math.min(close.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(close.slice(0, length))) return length;
  return 0;
}
