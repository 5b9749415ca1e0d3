import { inputJson, isCutInput } from '@gw2api/gateway/plugin/upstream';
import type { Blocks } from '../../shared/answer/blocks.js';
import { fieldsOf, listOf, textOf, type Fields } from '../../shared/fields.js';
import { malformed } from '../../shared/openai/openai-stream-error.js';
import { pageCitation } from '../../shared/answer/page-citation.js';
import { sealReasoning } from '../../shared/reasoning-envelope.js';
import type { ToolNames } from '../../shared/openai/tool-names.js';

/** Terms of the request that an answer is read by. */
export interface AnswerTerms {
  /** Name of the requested model. */
  readonly model: string;
  /** Origin of the reasoning. */
  readonly vendor: string;
  readonly names: ToolNames;
}

/** Output item while it arrives. */
export interface OpenItem {
  readonly index: unknown;
  /** The item as it was added. */
  readonly item: Fields;
  /** True once a block of it has begun. */
  hasBegun: boolean;
  /** True once some of its text, or of its refusal, has been read. */
  hasText: boolean;
  /** Arguments of a call received so far. */
  json: string;
  /** True once it has cited a page. */
  hasCitations: boolean;
}

/** Writer of output items as content blocks. */
export class ItemWriter {
  readonly #blocks: Blocks;
  readonly #vendor: string;
  readonly #names: ToolNames;
  /** True once an incomplete call has ended, regardless of the server's status. */
  isCut = false;
  readonly #calls = new Set<string>();
  /** Types of the other items that have been written in part. */
  readonly #types = new Set<unknown>();
  /** Words of a refusal, which are written whole at the end. */
  refused = '';

  constructor(blocks: Blocks, { vendor, names }: AnswerTerms) {
    this.#blocks = blocks;
    this.#vendor = vendor;
    this.#names = names;
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0;
  }

  /** Begins the item of an index; `item`: its known fields. A call without a name waits for it. */
  begin(index: unknown, item: Fields): OpenItem {
    const hasBegun = item['type'] === 'function_call' && textOf(item['name']) !== '';
    if (hasBegun) this.#beginCall(item);
    return { index, item, hasBegun, hasText: false, hasCitations: false, json: '' };
  }

  /** True for a call that has been written, and for another item if one of its type has. */
  hasWritten(item: Fields): boolean {
    const { type } = item;
    return type === 'function_call' ? this.#calls.has(callIdOf(item)) : this.#types.has(type);
  }

  /** `logprobs`: of the text's tokens, if any. */
  text(open: OpenItem, text: string, logprobs: readonly unknown[] = []): void {
    if (text === '') return;
    if (this.#blocks.open !== 'text') this.#blocks.begin({ type: 'text', text: '' });
    open.hasText = true;
    this.#types.add('message');
    this.#blocks.text(text, logprobs.length > 0 ? logprobs : undefined);
  }

  cite(open: OpenItem, annotation: unknown): void {
    if (this.#blocks.open !== 'text') return;
    open.hasCitations = true;
    for (const citation of pageCitation(fieldsOf(annotation)))
      this.#blocks.delta({ type: 'citations_delta', citation });
  }

  refusal(open: OpenItem, text: string): void {
    if (text === '') return;
    open.hasText = true;
    this.#types.add('message');
    this.refused += text;
    if (this.refused.length > maxRefusalLength) throw malformed('a refusal that is too long');
  }

  thinking(open: OpenItem, text: string): void {
    if (text === '') return;
    this.#beginThinking(open);
    open.hasText = true;
    this.#blocks.thinking(text);
  }

  json(open: OpenItem, json: string): void {
    if (json === '') return;
    open.hasText = true;
    open.json += json;
    if (open.json.length > maxJsonLength) throw malformed('tool call arguments that are too long');
    if (open.hasBegun) this.#blocks.json(json);
  }

  /** Writes the part of whole arguments that has not been streamed. */
  wholeJson(open: OpenItem, json: string): void {
    if (json.startsWith(open.json)) this.json(open, json.slice(open.json.length));
  }

  /** Ends an item, after writing the part that has not been streamed. */
  end(open: OpenItem, item: Fields): void {
    const end = ends[textOf(item['type'])];
    end?.(this, open, item);
    this.#blocks.end();
  }

  /** Abandons an item that the answer does not end. */
  leave({ item, json, hasBegun }: OpenItem): void {
    if (json !== '' && !hasBegun) throw malformed('a tool call without a name');
    this.isCut ||= item['type'] === 'function_call' && isCutInput(json);
  }

  endMessage(open: OpenItem, { content }: Fields): void {
    const { hasText, hasCitations } = open;
    for (const { type, text, refusal, annotations } of listOf(content).map(fieldsOf)) {
      if (!hasText && type === 'refusal') this.refusal(open, textOf(refusal));
      else if (!hasText) this.text(open, textOf(text));
      if (!hasCitations) for (const annotation of listOf(annotations)) this.cite(open, annotation);
    }
  }

  /** Ends a call; ignores one with neither name nor arguments. */
  endCall(open: OpenItem, item: Fields): void {
    if (!open.hasBegun) {
      if (textOf(item['name']) === '' && open.json + argumentsOf(item) === '') return;
      this.#beginCall(item);
      if (open.json !== '') this.#blocks.json(open.json);
    }
    open.hasBegun = true;
    this.wholeJson(open, argumentsOf(item));
    this.isCut ||= item['status'] === 'incomplete' || isCutInput(open.json);
  }

  /** Ends reasoning, with the whole item in the envelope: encrypted reasoning is useful only with its summary. */
  endReasoning(open: OpenItem, item: Fields): void {
    const { id, summary, content, encrypted_content } = item;
    if (!open.hasText)
      this.thinking(open, [...listOf(summary), ...listOf(content)].map(partText).join('\n\n'));
    const isEncrypted = typeof encrypted_content === 'string' && encrypted_content !== '';
    if (!isEncrypted && !open.hasText) return;
    this.#beginThinking(open);
    const data = isEncrypted ? { data: { id, type: 'reasoning', summary, encrypted_content } } : {};
    this.#blocks.delta({
      type: 'signature_delta',
      signature: sealReasoning({ vendor: this.#vendor, ...data }),
    });
  }

  #beginCall(item: Fields): void {
    if (textOf(item['name']) === '') throw malformed('a tool call without a name');
    const id = callIdOf(item);
    this.#calls.add(id);
    this.#blocks.begin({ type: 'tool_use', id, name: this.#names.own(textOf(item['name'])), input: {} });
  }

  #beginThinking(open: OpenItem): void {
    if (!open.hasBegun) this.#blocks.begin({ type: 'thinking', thinking: '', signature: '' });
    open.hasBegun = true;
    this.#types.add('reasoning');
  }
}

function callIdOf({ call_id, id }: Fields): string {
  return textOf(call_id) || textOf(id);
}

/** Arguments as a text; some servers send the object. */
function argumentsOf({ arguments: given }: Fields): string {
  return typeof given === 'object' && given !== null ? inputJson(given) : textOf(given);
}

const maxJsonLength = 32 * 1024 * 1024;

const maxRefusalLength = 1024 * 1024;

function partText(part: unknown): string {
  return textOf(fieldsOf(part)['text']);
}

type End = (writer: ItemWriter, open: OpenItem, item: Fields) => void;

/** Ends by type of item; others are the vendor's own. */
const ends: Readonly<Record<string, End | undefined>> = {
  message: (writer, open, item) => writer.endMessage(open, item),
  function_call: (writer, open, item) => writer.endCall(open, item),
  reasoning: (writer, open, item) => writer.endReasoning(open, item),
};
