import type { ModelEvents } from './events.js';
import { EventStream } from './event-stream.js';
import { MessageFold, mergeUsage } from './fold.js';
import { mapEvents, tapEvents, type EventMap } from './map-events.js';
import type { ContentBlock, MessagesRequest, Usage } from '../contract/messages.js';
import type { ModelCall, ModelReply } from '../contract/state.js';
import { addUsage } from './usage.js';
import { withFields } from '../raw/with-fields.js';

/**
 * Interceptor for dialects without `pause_turn`: when a server tool pauses the turn, calls the model again
 * with its output so far, at most `limit` times, and joins the answers into one. Block indices go on, usage
 * adds up, and the pauses in between are hidden.
 */
export function continuePausedTurns(
  limit: number,
): (request: MessagesRequest, call: ModelCall) => Promise<ModelReply> {
  return async (request, call) => {
    const reply = await call(request);
    const answer = new JoinedAnswer(limit);
    const events = EventStream.chain(answer.join(reply.events), async () => {
      if (!answer.isPaused) return undefined;
      const { events: more } = await call(answer.continuing(request));
      return answer.join(more);
    });
    return withFields(reply, { calls: () => answer.calls, events });
  };
}

/** Joins several answers into the one that the caller sees. */
class JoinedAnswer {
  readonly #content: ContentBlock[] = [];
  #usage: Usage = {};
  #startUsage: Usage = {};
  #offset = 0;
  readonly #limit: number;
  #fold = new MessageFold();
  calls = 0;
  isPaused = false;

  /** `limit`: max continuations. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds the events of the next answer. */
  join(events: ModelEvents): EventStream {
    const fold = new MessageFold();
    this.#fold = fold;
    this.calls += 1;
    const seen = tapEvents(events, (event) => fold.add(event));
    return mapEvents(seen, this.#handlers(this.calls === 1, this.calls <= this.#limit));
  }

  #handlers(isFirst: boolean, mayContinue: boolean): EventMap {
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

  /**
   * Request that continues a paused answer: with the output so far, without empty text blocks, which
   * upstreams refuse.
   */
  continuing(request: MessagesRequest): MessagesRequest {
    this.#keep();
    const content = this.#content.filter((block) => block.type !== 'text' || block.text !== '');
    return { ...request, messages: [...request.messages, { role: 'assistant', content }] };
  }

  /** Keeps the content and usage of a paused answer. */
  #keep(): void {
    this.isPaused = false;
    const message = this.#fold.partial();
    for (const block of message?.content ?? []) this.#content.push(block);
    this.#offset = this.#content.length;
    this.#usage = addUsage(this.#usage, message?.usage ?? {});
  }
}
