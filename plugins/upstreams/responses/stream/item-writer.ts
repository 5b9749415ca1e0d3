import { isCutInput } from 'gw2api/plugin/upstream';
import type { Blocks } from '../../shared/blocks.js';
import { fieldsOf, listOf, textOf, type Fields } from '../../shared/fields.js';
import { malformed } from '../../shared/malformed.js';
import { sealReasoning } from '../../shared/reasoning-envelope.js';
import type { ToolNames } from '../../shared/tool-names.js';

/** Terms of the request that an answer is read by. */
export interface AnswerTerms {
  /** Name of the model that was asked for. */
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
  /** True once some of its text has been written. */
  hasText: boolean;
  /** Arguments of a call, as far as they came. */
  json: string;
}

/** Writer of output items as content blocks. */
export class ItemWriter {
  readonly #blocks: Blocks;
  readonly #vendor: string;
  readonly #names: ToolNames;
  hasCalls = false;
  /** True once a call has ended that is not complete, whatever the server says of its answer. */
  isCut = false;
  isRefused = false;

  constructor(blocks: Blocks, { vendor, names }: AnswerTerms) {
    this.#blocks = blocks;
    this.#vendor = vendor;
    this.#names = names;
  }

  begin({ item, ...open }: OpenItem): OpenItem {
    const isCall = item['type'] === 'function_call';
    if (isCall) this.#beginCall(item);
    return { ...open, item, hasBegun: isCall };
  }

  text(open: OpenItem, text: string): void {
    if (text === '') return;
    if (this.#blocks.open !== 'text') this.#blocks.begin({ type: 'text', text: '' });
    open.hasText = true;
    this.#blocks.text(text);
  }

  refusal(open: OpenItem, text: string): void {
    this.isRefused = true;
    this.text(open, text);
  }

  thinking(open: OpenItem, text: string): void {
    if (text === '') return;
    this.#beginThinking(open);
    open.hasText = true;
    this.#blocks.thinking(text);
  }

  json(open: OpenItem, json: string): void {
    if (json === '' || !open.hasBegun) return;
    open.hasText = true;
    open.json += json;
    if (open.json.length > maxJsonLength) throw malformed('too long arguments of a tool call');
    this.#blocks.json(json);
  }

  /** Ends an item, with what of it has not been streamed. */
  end(open: OpenItem, item: Fields): void {
    const end = ends[textOf(item['type'])];
    end?.(this, open, item);
    this.#blocks.end();
  }

  /** Leaves an item that the answer does not end. */
  leave({ item, json }: OpenItem): void {
    this.isCut ||= item['type'] === 'function_call' && isCutInput(json);
  }

  endMessage(open: OpenItem, { content }: Fields): void {
    if (open.hasText) return;
    for (const part of listOf(content).map(fieldsOf)) {
      if (part['type'] === 'refusal') this.refusal(open, textOf(part['refusal']));
      else this.text(open, textOf(part['text']));
    }
  }

  endCall(open: OpenItem, item: Fields): void {
    if (!open.hasBegun) this.#beginCall(item);
    open.hasBegun = true;
    if (!open.hasText) this.json(open, textOf(item['arguments']));
    this.isCut ||= item['status'] === 'incomplete' || isCutInput(open.json);
  }

  /** The whole item goes into the envelope: encrypted reasoning is of use with its summary alone. */
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

  #beginCall({ call_id, id, name }: Fields): void {
    this.hasCalls = true;
    this.#blocks.begin({
      type: 'tool_use',
      id: textOf(call_id) || textOf(id),
      name: this.#names.own(textOf(name)),
      input: {},
    });
  }

  #beginThinking(open: OpenItem): void {
    if (!open.hasBegun) this.#blocks.begin({ type: 'thinking', thinking: '', signature: '' });
    open.hasBegun = true;
  }
}

const maxJsonLength = 32 * 1024 * 1024;

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
