import type { ContentBlock, Delta } from '@gw2api/gateway/plugin';
import {
  type Citation,
  dispatch,
  type DispatchTable,
  inputJson,
  isCutInput,
} from '@gw2api/gateway/plugin/format';
import type { BinaryString, PlainDelta } from '@gw2api/gateway/plugin/raw';

/** One content block while it arrives. */
export interface Block<Start extends ContentBlock = ContentBlock> {
  /** Block of its `content_block_start`. */
  readonly start: Start;
  /** Text, thinking, or the JSON of a tool's input received so far. */
  readonly text: string;
  readonly signature: string;
  readonly citations: readonly Citation[];
  /** The answer ended within this block, or its tool call is not complete JSON. */
  readonly isCut: boolean;
}

/** One block of the answer as a dialect writes it. */
export interface Part {
  /**
   * Appends text, never with half a surrogate pair. `json`: the same text as `JSON.stringify` writes it, without
   * quotes, if available; `logprobs`: log probabilities of its tokens, if requested.
   */
  write?(text: string, json?: BinaryString, logprobs?: readonly unknown[]): void;
  /** Called when the block is complete or cut. */
  close?(): void;
}

/** The block that an answer's reader works on. */
export class OpenBlock implements Block {
  readonly start: ContentBlock;
  text = '';
  signature: string;
  readonly citations: Citation[];
  isCut = false;
  /** A tool call whose arguments are not complete JSON. */
  isCutCall = false;
  #part: Part | undefined;
  #half = '';
  /** Of a text that is not written yet. */
  readonly #logprobs: unknown[] = [];

  constructor(start: ContentBlock) {
    this.start = start;
    this.signature = typeof start['signature'] === 'string' ? start['signature'] : '';
    this.citations = start.type === 'text' ? [...(start.citations ?? [])] : [];
  }

  /** Passes the text that the block begins with to its part. */
  begin(part: Part | undefined): void {
    this.#part = part;
    this.#write(dispatch(beginnings, this.start, undefined) ?? '');
  }

  extend(delta: Delta): void {
    if (delta.type === 'text_delta' && delta.logprobs)
      for (const token of delta.logprobs) this.#logprobs.push(token);
    this.#write(dispatch(deltas, delta, this) ?? '');
  }

  /** Appends a text delta; text that is written unchanged never ends within a surrogate pair. */
  say({ text, json }: PlainDelta): void {
    if (this.#half !== '') return this.#write(text);
    this.text += text;
    if (text !== '') this.#part?.write?.(text, json);
  }

  close(isCut: boolean): void {
    if (this.text === '' && 'input' in this.start) this.#write(inputText(this.start.input));
    this.isCutCall = this.start.type === 'tool_use' && isCutInput(this.text);
    this.isCut = isCut || this.isCutCall;
    if (this.#half !== '') this.#part?.write?.(this.#half);
    this.#part?.close?.();
  }

  #takeLogprobs(): readonly unknown[] | undefined {
    return this.#logprobs.length > 0 ? this.#logprobs.splice(0) : undefined;
  }

  /** Writes text, holding a first half of a surrogate pair until its second half. */
  #write(text: string): void {
    if (text === '') return;
    this.text += text;
    const whole = this.#half + text;
    this.#half = endsInHalf(whole) ? whole.slice(-1) : '';
    const ready = this.#half === '' ? whole : whole.slice(0, -1);
    if (ready !== '') this.#part?.write?.(ready, undefined, this.#takeLogprobs());
  }
}

/** JSON text of an input that the block began with; some services send it as a text. */
function inputText(input: unknown): string {
  return typeof input === 'string' ? input : inputJson(input);
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

/** The text that a block begins with. */
const beginnings: Partial<DispatchTable<ContentBlock, undefined, string>> = {
  text: ({ text }) => text,
  thinking: ({ thinking }) => thinking,
};

/** The text that a delta adds; others add to the block beside its text. */
const deltas: Partial<DispatchTable<Delta, OpenBlock, string | undefined>> = {
  text_delta: ({ text }) => text,
  thinking_delta: ({ thinking }) => thinking,
  input_json_delta: ({ partial_json }) => partial_json,
  signature_delta: ({ signature }, block) => {
    block.signature += signature;
    return undefined;
  },
  citations_delta: ({ citation }, block) => {
    block.citations.push(citation);
    return undefined;
  },
};
