import type { MessagesResponse, ModelEvents, Usage } from '@gw2api/gateway/plugin';
import {
  CompletionsChoice,
  completionsParts,
  type CompletionsRequest,
  type CompletionsSink,
} from './choice.js';
import type { Ending } from '../shared/answer/answer.js';
import { AnswersReader } from '../shared/answer/answers.js';
import { completionId, type FinishReason } from '../shared/answer/completion.js';
import { readAll } from '../shared/answer/relay.js';
import { chatUsage } from '../shared/answer/reported-usage.js';

/** The whole completion: the fold of its chunks. */
export async function completionsReply(events: ModelEvents, request: CompletionsRequest): Promise<object> {
  const reply = new CompletionsReply(request);
  const make = (index: number) => new CompletionsChoice(index, request, reply);
  await readAll(events, new AnswersReader(request.count, completionsParts, make));
  return reply.body();
}

class CompletionsReply implements CompletionsSink {
  readonly #request: CompletionsRequest;
  readonly #choices: { text: string; finish: FinishReason | null }[];
  readonly #usages: Usage[] = [];
  #id = '';

  constructor(request: CompletionsRequest) {
    this.#request = request;
    this.#choices = Array.from({ length: request.count }, () => ({ text: '', finish: null }));
  }

  start(message: MessagesResponse): void {
    this.#id ||= completionId('cmpl', message);
  }

  text(index: number, text: string, finish: FinishReason | null): void {
    const choice = this.#choices[index];
    if (!choice) return;
    choice.text += text;
    choice.finish = finish;
  }

  end({ usage }: Ending): void {
    this.#usages.push(usage);
  }

  body(): object {
    const { created, model } = this.#request;
    const choices = this.#choices.map(({ text, finish }, index) => ({
      index,
      text,
      logprobs: null,
      finish_reason: finish,
    }));
    return {
      id: this.#id,
      object: 'text_completion',
      created,
      model,
      choices,
      usage: chatUsage(this.#usages),
    };
  }
}
