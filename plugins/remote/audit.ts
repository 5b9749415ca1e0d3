import {
  ModelEvent,
  withFields,
  type MessagesRequest,
  type ModelCall,
  type ModelEventBatch,
  type ModelReply,
  type Transform,
} from '@gw2api/gateway/plugin';
import { observed } from '@gw2api/gateway/plugin/remote';
import type { AnswerReview } from './answer-phase.js';
import { messageOf, type Conversation } from './conversation.js';
import type { Conversations } from './conversations.js';
import type { Remote, RemoteContext } from './remote.js';

/** Asks about answers beside them: they pass on at once, whatever the verdict is. */
export class AnswerAudit implements AnswerReview {
  readonly #remote: Remote;
  readonly #conversations: Conversations;

  constructor(remote: Remote, conversations: Conversations) {
    this.#remote = remote;
    this.#conversations = conversations;
  }

  async review(request: MessagesRequest, call: ModelCall, ctx: RemoteContext): Promise<ModelReply> {
    const conversation = this.#conversations.aboutAnswer(ctx);
    const reply = await call(request);
    const events = this.#remote.settings.asksEvents
      ? this.#observed(reply, request, conversation)
      : reply.events.through(new WholeCopy(this.#remote, request, conversation));
    return withFields(reply, { events });
  }

  #observed({ events }: ModelReply, request: MessagesRequest, conversation: Conversation) {
    const remote = this.#remote;
    return observed(
      events,
      (chunk) => remote.beside('events', (until) => conversation.aboutEvents(request, chunk, until)),
      { ...remote.reviewOptions, passesFailures: true, onOverflow: () => remote.count('events', 'dropped') },
    );
  }
}

/** Copies an answer as it passes, and asks about it at its end. */
class WholeCopy implements Transform {
  readonly #remote: Remote;
  readonly #request: MessagesRequest;
  readonly #conversation: Conversation;
  #events: ModelEvent[] | undefined = [];
  #bytes = 0;

  constructor(remote: Remote, request: MessagesRequest, conversation: Conversation) {
    this.#remote = remote;
    this.#request = request;
    this.#conversation = conversation;
  }

  transform(batch: ModelEventBatch): ModelEventBatch {
    if (!this.#events) return batch;
    this.#bytes += ModelEvent.heldBytes(batch);
    this.#events.push(...batch);
    if (this.#bytes > this.#remote.settings.answerBytes) {
      this.#events = undefined;
      this.#remote.count('answer', 'dropped');
    }
    return batch;
  }

  flush(): undefined {
    const events = this.#events;
    if (!events) return;
    const asked = this.#remote.beside('answer', async (until) =>
      this.#conversation.aboutAnswer(this.#request, { events, message: messageOf(events) }, until),
    );
    asked.catch(() => undefined); // counted
  }
}
