import { BatchSource, type BatchReader } from './batch-source.js';
import type { ModelEventBatch, ModelEvents } from './events.js';
import { MessageFold, mergeUsage } from './fold.js';
import { mapEvents, tapEvents, type EventMap } from './map-events.js';
import type { ContentBlock, MessagesRequest, Usage } from '../contract/messages.js';
import type { Interceptor, ModelReply } from '../contract/state.js';
import { addUsage } from './usage.js';
import { withFields } from '../raw/with-fields.js';

/**
 * Interceptor for dialects without `pause_turn`: when a server tool pauses the turn, calls the model again
 * with its output so far, at most `limit` times, and joins the answers into one. Block indices go on, usage
 * adds up, and the pauses in between are hidden.
 */
export function continuePausedTurns(limit: number): Interceptor {
  return (call) => async (request) => {
    const reply = await call(request);
    const answer = new JoinedAnswer();
    const callAgain = () => call(answer.continuing(request));
    return withFields(reply, {
      calls: () => answer.calls,
      events: new JoinedEvents(answer, reply.events, callAgain, limit),
    });
  };
}

/** Events of several answers, read one after another. */
class JoinedEvents extends BatchSource<ModelEventBatch> implements BatchReader<ModelEventBatch> {
  readonly #answer: JoinedAnswer;
  readonly #callAgain: () => Promise<ModelReply>;
  #left: number;
  #fold = new MessageFold();
  #events: BatchSource<ModelEventBatch>;
  #reader: BatchReader<ModelEventBatch> | undefined;
  #isOver = false;

  constructor(answer: JoinedAnswer, first: ModelEvents, callAgain: () => Promise<ModelReply>, limit: number) {
    super();
    this.#answer = answer;
    this.#callAgain = callAgain;
    this.#left = limit;
    this.#events = this.#begin(first);
  }

  ask(reader: BatchReader<ModelEventBatch>): ModelEventBatch | undefined {
    this.#reader = reader;
    return this.#events.ask(this);
  }

  async return(): Promise<IteratorResult<ModelEventBatch, undefined>> {
    this.#isOver = true;
    await this.#events.return();
    return { done: true, value: undefined };
  }

  receive(batch: ModelEventBatch): void {
    this.#reader?.receive(batch);
  }

  /** End of the current answer; continues if it is paused. */
  finish(): void {
    if (!this.#answer.isPaused || this.#isOver) this.#reader?.finish();
    else this.#continue().catch((error: unknown) => this.fail(error));
  }

  fail(error: unknown): void {
    this.#reader?.fail(error);
  }

  async #continue(): Promise<void> {
    this.#answer.keep(this.#fold);
    this.#left -= 1;
    const { events } = await this.#callAgain();
    this.#events = this.#begin(events);
    if (this.#isOver) await this.#events.return();
    const batch = this.#events.ask(this);
    if (batch) this.receive(batch);
  }

  #begin(events: ModelEvents): BatchSource<ModelEventBatch> {
    const fold = new MessageFold();
    this.#fold = fold;
    return mapEvents(
      tapEvents(events, (event) => fold.add(event)),
      this.#answer.begin(this.#left > 0),
    );
  }
}

/** Joins several answers into the one that the caller sees. */
class JoinedAnswer {
  readonly #content: ContentBlock[] = [];
  #usage: Usage = {};
  #startUsage: Usage = {};
  #offset = 0;
  calls = 0;
  isPaused = false;

  /** Begins the next answer; returns the handlers of its events. */
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

  /** Adds the content and usage of a paused answer. */
  keep(fold: MessageFold): void {
    this.isPaused = false;
    const message = fold.partial();
    for (const block of message?.content ?? []) this.#content.push(block);
    this.#offset = this.#content.length;
    this.#usage = addUsage(this.#usage, message?.usage ?? {});
  }

  /** Request with the output so far, without empty text blocks, which upstreams refuse. */
  continuing(request: MessagesRequest): MessagesRequest {
    const content = this.#content.filter((block) => block.type !== 'text' || block.text !== '');
    return { ...request, messages: [...request.messages, { role: 'assistant', content }] };
  }
}
