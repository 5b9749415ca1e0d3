import { mapEvents, type EventMap, type ModelEventBatch } from './events.js';
import { MessageFold, mergeUsage } from './fold.js';
import type { ContentBlock, MessagesRequest, Usage } from './messages.js';
import type { Interceptor, ModelCall, ModelReply } from './state.js';
import { addUsage } from './usage.js';

/**
 * An interceptor for callers whose dialect has no `pause_turn`: where a server tool pauses the turn, the model is asked
 * again with what it has said so far, at most `limit` times, and the answers are joined into one. Block indices go on
 * counting, usage adds up, and what pauses in between is not shown.
 */
export function continuePausedTurns(limit: number): Interceptor {
  return (call) => async (request) => {
    const reply = await call(request);
    const answer = new JoinedAnswer();
    return { ...reply, calls: () => answer.calls, events: joined(answer, reply, request, call, limit) };
  };
}

async function* joined(
  answer: JoinedAnswer,
  first: ModelReply,
  request: MessagesRequest,
  call: ModelCall,
  limit: number,
): AsyncGenerator<ModelEventBatch> {
  for (let reply = first, left = limit; ; left -= 1) {
    const fold = new MessageFold();
    const map = answer.begin(left > 0);
    for await (const batch of mapEvents(folded(reply.events, fold), map)) yield batch;
    if (!answer.isPaused) return;
    answer.keep(fold);
    reply = await call(answer.continuing(request));
  }
}

/** Several answers as the caller sees them: one. */
class JoinedAnswer {
  readonly #content: ContentBlock[] = [];
  #usage: Usage = {};
  #startUsage: Usage = {};
  #offset = 0;
  calls = 0;
  isPaused = false;

  /** What to do with the events of the next answer. */
  begin(mayContinue: boolean): EventMap {
    this.isPaused = false;
    this.calls += 1;
    const isFirst = this.calls === 1;
    return {
      ...(isFirst ? {} : this.#splice()),
      message_delta: (event) => {
        this.isPaused = mayContinue && event.delta.stop_reason === 'pause_turn';
        if (this.isPaused) return [];
        const usage = addUsage(this.#usage, mergeUsage(this.#startUsage, event.usage));
        return isFirst ? event : { ...event, usage };
      },
      message_stop: (event) => (this.isPaused ? [] : event),
    };
  }

  #splice(): EventMap {
    return {
      message_start: ({ message }) => {
        this.#startUsage = message.usage;
        return [];
      },
      content_block_start: (event) => ({ ...event, index: event.index + this.#offset }),
      content_block_delta: (event) => ({ ...event, index: event.index + this.#offset }),
      content_block_stop: (event) => ({ ...event, index: event.index + this.#offset }),
    };
  }

  /** Takes over a paused answer. */
  keep(fold: MessageFold): void {
    const message = fold.partial();
    this.#content.push(...(message?.content ?? []));
    this.#offset = this.#content.length;
    this.#usage = addUsage(this.#usage, message?.usage ?? {});
  }

  /** The request with what has been said so far; upstreams refuse a text block without text. */
  continuing(request: MessagesRequest): MessagesRequest {
    const content = this.#content.filter((block) => block.type !== 'text' || block.text !== '');
    return { ...request, messages: [...request.messages, { role: 'assistant', content }] };
  }
}

async function* folded(events: ModelReply['events'], fold: MessageFold): AsyncGenerator<ModelEventBatch> {
  for await (const batch of events) {
    for (const event of batch) fold.add(event);
    yield batch;
  }
}
