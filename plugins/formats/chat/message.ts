import type {
  Annotation,
  ChatDelta,
  ChatFinish,
  FunctionDelta,
  IndexedDetail,
  ToolCallDelta,
} from './delta.js';

/** Gathers the deltas of one choice into the message that they spell. */
export class ChatMessage {
  finishReason: ChatFinish | null = null;
  #content = '';
  readonly #logprobs: unknown[] = [];
  #refusal = '';
  #reasoning = '';
  #details: IndexedDetail[] = [];
  #calls: GrowingCall[] = [];
  #functionCall: FunctionDelta | undefined;
  #annotations: readonly Annotation[] = [];

  /** Same as `add` for a delta with nothing but content. */
  say(content: string, logprobs: readonly unknown[] = []): void {
    this.#content += content;
    for (const token of logprobs) this.#logprobs.push(token);
  }

  /** Log probabilities of the tokens of the content. */
  get logprobs(): readonly unknown[] {
    return this.#logprobs;
  }

  add(delta: ChatDelta, finish: ChatFinish | null): void {
    this.#content += delta.content ?? '';
    this.#refusal += delta.refusal ?? '';
    this.#reasoning += delta.reasoning_content ?? '';
    for (const detail of delta.reasoning_details ?? []) this.#details.push(detail);
    for (const call of delta.tool_calls ?? []) (this.#calls[call.index] ??= new GrowingCall(call)).add(call);
    if (delta.function_call) this.#functionCall = extendFunction(this.#functionCall, delta.function_call);
    this.#annotations = delta.annotations ?? this.#annotations;
    this.finishReason = finish ?? this.finishReason;
  }

  /** `choices[].message`; its content is null where there is nothing but calls or a refusal. */
  body(): object {
    const hasCall = this.#calls.length > 0 || this.#functionCall !== undefined;
    const isEmpty = this.#content === '' && (hasCall || this.#refusal !== '');
    return {
      role: 'assistant',
      content: isEmpty ? null : this.#content,
      refusal: this.#refusal === '' ? null : this.#refusal,
      ...(this.#reasoning === '' ? {} : { reasoning_content: this.#reasoning }),
      ...(this.#details.length === 0 ? {} : { reasoning_details: this.#details }),
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls.map((call) => call.body()) }),
      ...(this.#functionCall === undefined ? {} : { function_call: this.#functionCall }),
      annotations: this.#annotations,
    };
  }
}

class GrowingCall {
  readonly #first: ToolCallDelta;
  #text = '';

  constructor(first: ToolCallDelta) {
    this.#first = first;
  }

  add(delta: ToolCallDelta): void {
    this.#text += delta.function?.arguments ?? delta.custom?.input ?? '';
  }

  body(): object {
    const { id, type, function: called, custom, extra_content } = this.#first;
    const extra = extra_content && { extra_content };
    return type === 'custom'
      ? { id, type, custom: { name: custom?.name, input: this.#text }, ...extra }
      : { id, type, function: { name: called?.name, arguments: this.#text }, ...extra };
  }
}

function extendFunction(known: FunctionDelta | undefined, delta: FunctionDelta): FunctionDelta {
  return { ...known, ...delta, arguments: (known?.arguments ?? '') + delta.arguments };
}
