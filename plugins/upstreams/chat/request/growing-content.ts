import type { ChatContent, ChatPart } from './chat-body.js';
import { isPlainText, partsIn } from './content.js';

/** Content to which parts are added, always equal to `contentOf` of all parts, in linear time. */
export class GrowingContent {
  /** The text so far, if it is one. */
  #text: string | undefined;
  #parts: ChatPart[];
  /** True if all parts are texts without markers. */
  #isPlain: boolean;

  constructor(content: ChatContent) {
    this.#text = typeof content === 'string' ? content : undefined;
    this.#parts = typeof content === 'string' ? [] : [...content];
    this.#isPlain = this.#parts.every(isPlainText);
  }

  get content(): ChatContent {
    return this.#text ?? this.#parts;
  }

  add(parts: readonly ChatPart[], asParts: boolean): void {
    if (this.#text !== undefined) this.#parts = [...partsIn(this.#text)];
    for (const part of parts) this.#parts.push(part);
    this.#isPlain &&= parts.every(isPlainText);
    const isText = this.#isPlain && !(asParts && this.#parts.length > 1);
    this.#text = isText ? textOf(this.#parts) : undefined;
  }
}

/** The texts as paragraphs; by `+`, since `join` copies the whole text each time. */
function textOf(parts: readonly ChatPart[]): string {
  let text: string | undefined;
  for (const part of parts)
    if (part.type === 'text') text = text === undefined ? part.text : `${text}\n\n${part.text}`;
  return text ?? '';
}
