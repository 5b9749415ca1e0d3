import type { ModelEvents } from './events.js';
import { EventStream } from './stream/event-stream.js';
import { MessageFold, mergeUsage } from './fold.js';
import { mapEvents, tapEvents, type EventMap } from './map-events.js';
import type {
  ContentBlock,
  Message,
  MessagesRequest,
  MessagesResponse,
  MessagesStreamEvent,
  StopReason,
  Usage,
} from '../contract/messages.js';
import type { ModelCall, ModelReply } from '../contract/state.js';
import { addUsage } from './usage.js';
import { withFields } from '../raw/with-fields.js';

/**
 * Interceptor for dialects without `pause_turn`: when a server tool pauses the turn, calls the model again with its
 * output so far, at most `limit` times, and joins the answers into one. Block indices continue, usage adds up, and the
 * pauses in between are hidden.
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
    // An `error` event, which ends the answer, is passed on.
    const seen = tapEvents(events, (event) => void (event.type === 'error' || fold.add(event)));
    return mapEvents(seen, this.#handlers(this.calls === 1, this.calls <= this.#limit));
  }

  #handlers(isFirst: boolean, mayContinue: boolean): EventMap {
    const pauses = (reason: StopReason | null | undefined) => mayContinue && reason === 'pause_turn';
    return {
      ...(!isFirst && this.#splice()),
      message_start: (event) => {
        this.isPaused = pauses(event.message.stop_reason);
        if (!isFirst) return this.#spliceStart(event.message);
        return this.isPaused ? { ...event, message: { ...event.message, stop_reason: null } } : event;
      },
      message_delta: (event) => {
        this.isPaused = pauses(event.delta.stop_reason ?? (this.isPaused ? 'pause_turn' : null));
        if (this.isPaused) return [];
        return isFirst ? event : { ...event, usage: this.#usageWith(event.usage) };
      },
      message_stop: (event) => (this.isPaused ? [] : event),
    };
  }

  #splice(): EventMap {
    return {
      content_block_start: (event) => ({ ...event, index: event.index + this.#offset }),
      content_block_delta: (event) => ({ ...event, index: event.index + this.#offset }),
      content_block_stop: (event) => ({ ...event, index: event.index + this.#offset }),
    };
  }

  /** Events instead of a repeated start, in which some servers send a whole answer. */
  #spliceStart({ content, stop_reason, stop_sequence, usage }: MessagesResponse): MessagesStreamEvent[] {
    this.#startUsage = usage;
    const blocks = content.flatMap((content_block, at): MessagesStreamEvent[] => {
      const index = this.#offset + at;
      return [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ];
    });
    if (stop_reason === null || this.isPaused) return blocks;
    return [
      ...blocks,
      { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: this.#usageWith(undefined) },
    ];
  }

  #usageWith(last: Usage | undefined): Usage {
    return addUsage(this.#usage, mergeUsage(this.#startUsage, last));
  }

  /**
   * Request that continues a paused answer: with the output so far, without empty text blocks, which
   * upstreams refuse.
   */
  continuing(request: MessagesRequest): MessagesRequest {
    this.#keep();
    const content = this.#content.filter((block) => block.type !== 'text' || block.text !== '');
    const turn: readonly Message[] = content.length > 0 ? [{ role: 'assistant', content }] : [];
    return withFields(request, { messages: [...request.messages, ...turn] });
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
