import type { MessagesResponse, ModelEvents, Usage } from '@gw2api/gateway/plugin';
import type { BinaryString } from '@gw2api/gateway/plugin/raw';
import { ChatChoice, chatParts, type ChatRequest } from './choice.js';
import type {
  ChatDelta,
  ChatFinish,
  ChatSink,
  Annotation,
  FunctionDelta,
  IndexedDetail,
  ToolCallDelta,
} from './delta.js';
import type { Ending } from '../shared/answer/answer.js';
import { AnswersReader } from '../shared/answer/answers.js';
import { completionId } from '../shared/answer/completion.js';
import { readAll } from '../shared/answer/relay.js';
import { chatUsage } from '../shared/answer/reported-usage.js';

/** The whole chat completion: the fold of its chunks. */
export async function chatReply(events: ModelEvents, request: ChatRequest): Promise<object> {
  const reply = new ChatReply(request);
  await readAll(
    events,
    new AnswersReader(request.n, chatParts, (index) => new ChatChoice(index, request, reply)),
  );
  return reply.body();
}

class ChatReply implements ChatSink {
  readonly #request: ChatRequest;
  readonly #messages: readonly ChatMessage[];
  readonly #usages: Usage[] = [];
  #id = '';

  constructor(request: ChatRequest) {
    this.#request = request;
    this.#messages = Array.from({ length: request.n }, () => new ChatMessage());
  }

  start(message: MessagesResponse): void {
    this.#id ||= completionId('chatcmpl', message);
  }

  delta(choice: number, delta: ChatDelta, finish: ChatFinish | null): void {
    this.#messages[choice]?.add(delta, finish);
  }

  text(choice: number, content: string, _json?: BinaryString, logprobs?: readonly unknown[]): void {
    this.#messages[choice]?.say(content, logprobs);
  }

  end({ usage }: Ending): void {
    this.#usages.push(usage);
  }

  body(): object {
    const { created, model } = this.#request;
    return {
      id: this.#id,
      object: 'chat.completion',
      created,
      model,
      choices: this.#messages.map((message, index) => ({
        index,
        message: message.body(),
        finish_reason: message.finishReason,
        logprobs: contentLogprobs(message.logprobs),
      })),
      usage: chatUsage(this.#usages),
    };
  }
}

/** Gathers the deltas of one choice into the message that they spell. */
class ChatMessage {
  finishReason: ChatFinish | null = null;
  #content = '';
  readonly #logprobs: unknown[] = [];
  #refusal = '';
  #reasoning = '';
  #details: IndexedDetail[] = [];
  #calls: GrowingCall[] = [];
  #functionCall: FunctionDelta | undefined;
  #annotations: readonly Annotation[] = [];

  /** Same as `add` for a delta with only content. */
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

  /** `choices[].message`; its content is null if there are only calls or a refusal. */
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

/** `choices[].logprobs` of tokens; null without any. */
export function contentLogprobs(logprobs: readonly unknown[]): object | null {
  return logprobs.length > 0 ? { content: logprobs, refusal: null } : null;
}
