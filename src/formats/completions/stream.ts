import { type ByteText, type GatewayError, type ModelEvents, toByteText } from '../../plugin/index.js';
import { AnswersReader } from '../answers.js';
import { ChunkStream } from '../chunk-stream.js';
import type { FinishReason } from '../finish-reason.js';
import { jsonBytes } from '../json-bytes.js';
import { relay } from '../relay.js';
import {
  CompletionsChoice,
  completionsParts,
  type CompletionsRequest,
  type CompletionsSink,
} from './choice.js';
import { completionsError } from './error.js';

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
    const reason = toByteText(JSON.stringify(finish));
    const choice = `{"index":${index},"text":"${json}","logprobs":null,"finish_reason":${reason}}`;
    this.write(choice as ByteText); // of bytes and ASCII
  }

  protected errorText(error: GatewayError): string {
    return completionsError(error);
  }
}
