import type { GatewayError, ModelEvents } from '@gw2api/gateway/plugin';
import { type BinaryString, toBinaryString } from '@gw2api/gateway/plugin/raw';
import {
  CompletionsChoice,
  completionsParts,
  type CompletionsRequest,
  type CompletionsSink,
} from './choice.js';
import { AnswersReader } from '../shared/answer/answers.js';
import { ChunkStream } from '../shared/answer/chunk-stream.js';
import type { FinishReason } from '../shared/answer/completion.js';
import { relay } from '../shared/answer/relay.js';
import { jsonBytes, chatError } from '../shared/answer/sse.js';

/** The chunks of a streamed completion. */
export function completionsStream(events: ModelEvents, request: CompletionsRequest): AsyncIterable<Buffer> {
  return relay(events, new CompletionsStream(request));
}

class CompletionsStream extends ChunkStream implements CompletionsSink {
  protected readonly answers: AnswersReader<CompletionsChoice>;
  protected readonly textFrame = ['"text":"', '","logprobs":null,"finish_reason":null}'] as const;

  constructor(request: CompletionsRequest) {
    super('text_completion', request);
    const make = (index: number) => new CompletionsChoice(index, request, this);
    this.answers = new AnswersReader(request.count, completionsParts, make);
  }

  text(index: number, text: string, finish: FinishReason | null, json = jsonBytes(text)): void {
    if (finish === null) return this.writeText(index, json);
    const reason = toBinaryString(JSON.stringify(finish));
    const choice = `{"index":${index},"text":"${json}","logprobs":null,"finish_reason":${reason}}`;
    this.write(choice as BinaryString); // a BinaryString and ASCII text
  }

  protected errorText(error: GatewayError): string {
    return chatError(error);
  }
}
