import type { GatewayError, ModelEvents } from '../../plugin/index.js';
import { AnswersReader } from '../answers.js';
import { ChunkStream } from '../chunk-stream.js';
import type { FinishReason } from '../finish-reason.js';
import { relay } from '../relay.js';
import {
  CompletionsChoice,
  completionsParts,
  type CompletionsRequest,
  type CompletionsSink,
} from './choice.js';
import { completionsError } from './error.js';

/** The chunks of a streamed completion. */
export function completionsStream(events: ModelEvents, request: CompletionsRequest): AsyncGenerator<string> {
  return relay(events, new CompletionsStream(request));
}

class CompletionsStream extends ChunkStream implements CompletionsSink {
  protected readonly answers: AnswersReader<CompletionsChoice>;

  constructor(request: CompletionsRequest) {
    super('text_completion', request);
    const make = (index: number) => new CompletionsChoice(index, request, this);
    this.answers = new AnswersReader(request.count, completionsParts, make);
  }

  text(index: number, text: string, finish: FinishReason | null): void {
    this.write(JSON.stringify({ index, text, logprobs: null, finish_reason: finish }));
  }

  fail(error: GatewayError): string {
    return completionsError(error);
  }
}
