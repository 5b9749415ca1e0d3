import type { MessagesResponse } from '@gw2api/gateway/plugin';
import type { BinaryString } from '@gw2api/gateway/plugin/raw';
import type { AnswerWriter, Ending, PartTable } from '../shared/answer/answer.js';
import type { ChunkRequest } from '../shared/answer/chunk-stream.js';
import { type FinishReason, finishReason } from '../shared/answer/completion.js';

/** Request fields that shape the answer. */
export interface CompletionsRequest extends ChunkRequest {
  /** Number of choices: prompts times `n`. */
  readonly count: number;
  /** Prefix of a choice's text: its prompt if the caller has set `echo`, else empty. */
  readonly echo: (choice: number) => string;
}

/** Sink of the text: a stream of chunks, or one body. */
export interface CompletionsSink {
  start(message: MessagesResponse): void;
  /** Open message item: one text part for several text blocks, then the explanation of a refusal. */
  text(choice: number, text: string, finish: FinishReason | null, json?: BinaryString): void;
  end(ending: Ending): void;
}

/** One answer as the text of one choice. */
export class CompletionsChoice implements AnswerWriter {
  readonly #index: number;
  readonly #request: CompletionsRequest;
  readonly #sink: CompletionsSink;

  constructor(index: number, request: CompletionsRequest, sink: CompletionsSink) {
    this.#index = index;
    this.#request = request;
    this.#sink = sink;
  }

  start(message: MessagesResponse): void {
    this.#sink.start(message);
    const prompt = this.#request.echo(this.#index);
    if (prompt !== '') this.write(prompt);
  }

  write(text: string, json?: BinaryString): void {
    this.#sink.text(this.#index, text, null, json);
  }

  end(ending: Ending): void {
    this.#sink.text(this.#index, '', finishReason(ending.stopReason));
    this.#sink.end(ending);
  }
}

/** Completions shows only text. */
export const completionsParts: PartTable<CompletionsChoice> = {
  text: (_, choice) => ({ write: (text, json) => choice.write(text, json) }),
};
