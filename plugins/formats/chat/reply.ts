import type { MessagesResponse, ModelEvents, Usage } from '@gw2api/gateway/plugin';
import type { BinaryString } from '@gw2api/gateway/plugin/raw';
import { ChatChoice, chatParts, type ChatRequest } from './choice.js';
import type { ChatDelta, ChatFinish, ChatSink } from './delta.js';
import { contentLogprobs } from './logprobs.js';
import { ChatMessage } from './message.js';
import type { Ending } from '../shared/answer.js';
import { AnswersReader } from '../shared/answers.js';
import { completionId } from '../shared/completion.js';
import { readAll } from '../shared/relay.js';
import { chatUsage } from '../shared/usage.js';

/** The whole chat completion: the fold of what would have been its chunks. */
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
