import type { GatewayError, ModelEvents } from '@gw2api/gateway/plugin';
import { toBinaryString } from '@gw2api/gateway/plugin/raw';
import { contentLogprobs } from './reply.js';
import { ChatChoice, chatParts, type ChatRequest } from './choice.js';
import type { ChatDelta, ChatFinish, ChatSink } from './delta.js';
import { AnswersReader } from '../shared/answer/answers.js';
import { ChunkStream } from '../shared/answer/chunk-stream.js';
import { relay } from '../shared/answer/relay.js';
import { jsonBytes, chatError } from '../shared/answer/sse.js';

/** The chunks of a streamed chat completion. */
export function chatStream(events: ModelEvents, request: ChatRequest): AsyncIterable<Buffer> {
  return relay(events, new ChatStream(request));
}

class ChatStream extends ChunkStream implements ChatSink {
  protected readonly answers: AnswersReader<ChatChoice>;
  protected readonly textFrame = [
    '"delta":{"content":"',
    '"},"finish_reason":null,"logprobs":null}',
  ] as const;

  constructor(request: ChatRequest) {
    super('chat.completion.chunk', request);
    this.answers = new AnswersReader(request.n, chatParts, (index) => new ChatChoice(index, request, this));
  }

  delta(index: number, delta: ChatDelta, finish: ChatFinish | null): void {
    this.write(toBinaryString(JSON.stringify({ index, delta, finish_reason: finish, logprobs: null })));
  }

  /** Fast path: writes the same chunk as a `delta` with only content. */
  text(index: number, content: string, json = jsonBytes(content), logprobs?: readonly unknown[]): void {
    if (!logprobs) return this.writeText(index, json);
    const choice = { index, delta: { content }, finish_reason: null, logprobs: contentLogprobs(logprobs) };
    this.write(toBinaryString(JSON.stringify(choice)));
  }

  protected errorText(error: GatewayError): string {
    return chatError(error);
  }
}
