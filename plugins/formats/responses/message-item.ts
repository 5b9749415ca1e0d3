import type { Citation } from '@gw2api/gateway/plugin/format';
import type { BinaryString } from '@gw2api/gateway/plugin/raw';
import type { Item, OpenItem } from './item.js';
import { jsonBytes } from '../shared/answer/sse.js';
import { urlCitations } from '../shared/tools/web-search.js';

/** Open message item: one text part for several text blocks, then the explanation of a refusal. */
export class MessageItem {
  static readonly beginning: Item = {
    type: 'message',
    status: 'in_progress',
    role: 'assistant',
    content: [],
  };

  readonly #item: OpenItem;
  readonly #annotations: object[] = [];
  readonly #logprobs: unknown[] = [];
  #text = '';
  #isClosed = false;

  constructor(item: OpenItem) {
    this.#item = item;
  }

  get text(): string {
    return this.#text;
  }

  /** Open message item: one text part for several text blocks, then the explanation of a refusal. */
  write(delta: string, json = jsonBytes(delta), logprobs?: readonly unknown[]): void {
    if (this.#text === '')
      this.#item.emit('response.content_part.added', { content_index: 0, part: outputText('', [], []) });
    this.#text += delta;
    if (logprobs) {
      for (const token of logprobs) this.#logprobs.push(token);
      return this.#item.emit('response.output_text.delta', { content_index: 0, delta, logprobs });
    }
    const fields = `"content_index":0,"delta":"${json}","logprobs":[]` as BinaryString; // a BinaryString and ASCII text
    this.#item.emitJson('response.output_text.delta', fields);
  }

  /** Adds a paragraph to the text. */
  say(paragraph: string): void {
    this.write(this.#text === '' ? paragraph : `\n\n${paragraph}`);
  }

  /** Adds citations to the text from `start` on; too late once another item has ended the message. */
  cite(citations: readonly Citation[], start: number): void {
    if (this.#isClosed) return;
    for (const citation of urlCitations(citations, start, this.#text.length)) {
      const annotation = { type: 'url_citation', ...citation };
      this.#item.emit('response.output_text.annotation.added', {
        content_index: 0,
        annotation_index: this.#annotations.length,
        annotation,
      });
      this.#annotations.push(annotation);
    }
  }

  close(status: 'completed' | 'incomplete', refusal?: string): void {
    this.#isClosed = true;
    const said = this.#text === '' ? [] : [this.#closeText()];
    const content = refusal === undefined ? said : [...said, this.#refuse(refusal, said.length)];
    this.#item.done({ ...MessageItem.beginning, status, content });
  }

  #closeText(): object {
    const logprobs = this.#logprobs;
    const part = outputText(this.#text, this.#annotations, logprobs);
    this.#item.emit('response.output_text.done', { content_index: 0, text: this.#text, logprobs });
    this.#item.emit('response.content_part.done', { content_index: 0, part });
    return part;
  }

  /** The explanation arrives as a whole. */
  #refuse(refusal: string, content_index: number): object {
    const part = { type: 'refusal', refusal };
    this.#item.emit('response.content_part.added', { content_index, part: { type: 'refusal', refusal: '' } });
    this.#item.emit('response.refusal.delta', { content_index, delta: refusal });
    this.#item.emit('response.refusal.done', { content_index, refusal });
    this.#item.emit('response.content_part.done', { content_index, part });
    return part;
  }
}

function outputText(text: string, annotations: readonly object[], logprobs: readonly unknown[]): object {
  return { type: 'output_text', text, annotations, logprobs };
}
