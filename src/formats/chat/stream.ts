import type { GatewayError, ModelEvents } from '../../plugin/index.js';
import { AnswersReader } from '../answers.js';
import { ChunkStream } from '../chunk-stream.js';
import { relay } from '../relay.js';
import { ChatChoice, chatParts, type ChatRequest } from './choice.js';
import type { ChatDelta, ChatFinish, ChatSink } from './delta.js';
import { chatError } from './error.js';

/** The chunks of a streamed chat completion. */
export function chatStream(events: ModelEvents, request: ChatRequest): AsyncGenerator<string> {
  return relay(events, new ChatStream(request));
}

class ChatStream extends ChunkStream implements ChatSink {
  protected readonly answers: AnswersReader<ChatChoice>;

  constructor(request: ChatRequest) {
    super('chat.completion.chunk', request);
    this.answers = new AnswersReader(request.n, chatParts, (index) => new ChatChoice(index, request, this));
  }

  delta(index: number, delta: ChatDelta, finish: ChatFinish | null): void {
    this.write(JSON.stringify({ index, delta, finish_reason: finish, logprobs: null }));
  }

  /** What `delta` would write: an object around the text takes four times as long as the text (0.4 µs). */
  text(index: number, content: string): void {
    this.write(
      `{"index":${index},"delta":{"content":${JSON.stringify(content)}},"finish_reason":null,"logprobs":null}`,
    );
  }

  fail(error: GatewayError): string {
    return chatError(error);
  }
}
