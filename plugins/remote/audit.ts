import {
  ModelEvent,
  withFields,
  type ModelEventBatch,
  type ModelReply,
  type Transform,
} from '@gw2api/gateway/plugin';
import { observed } from '@gw2api/gateway/plugin/remote';
import { AnswerReview, type AskedReply } from './answer-review.js';
import { messageOf } from './conversation.js';
import type { Remote } from './remote.js';

/** Asks about answers beside them: they pass on at once, whatever the verdict is. */
export class AnswerAudit extends AnswerReview {
  protected ask(asked: AskedReply): ModelReply {
    const { reply } = asked;
    const events = this.remote.settings.asksEvents
      ? this.#observed(asked)
      : reply.events.through(new WholeCopy(this.remote, asked));
    return withFields(reply, { events });
  }

  #observed({ reply, request, conversation }: AskedReply) {
    const { remote } = this;
    return observed(
      reply.events,
      (chunk) => remote.beside('events', (until) => conversation.aboutEvents(request, chunk, until)),
      { ...remote.reviewOptions, passesFailures: true, onOverflow: () => remote.count('events', 'dropped') },
    );
  }
}

/** Copies an answer as it passes, and asks about it at its end. */
class WholeCopy implements Transform {
  readonly #remote: Remote;
  readonly #asked: AskedReply;
  #events: ModelEvent[] | undefined = [];
  #bytes = 0;

  constructor(remote: Remote, asked: AskedReply) {
    this.#remote = remote;
    this.#asked = asked;
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
    const { request, conversation } = this.#asked;
    const answered = this.#remote.beside('answer', async (until) =>
      conversation.aboutAnswer(request, { events, message: messageOf(events) }, until),
    );
    answered.catch(() => undefined); // counted
  }
}
