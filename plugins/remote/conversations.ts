import type { Conversation } from './conversation.js';
import { LitellmConversation } from './litellm.js';
import { OwnConversation } from './own-conversation.js';
import type { Remote, RemoteContext } from './remote.js';

interface Run {
  readonly conversation: Conversation;
  /** True once an answer is asked about in it. */
  hasAnswer: boolean;
}

/** Conversations by request: that of its first answer begins with the request, and each further answer has another. */
export class Conversations {
  readonly #remote: Remote;
  readonly #first = new WeakMap<object, Run>();

  constructor(remote: Remote) {
    this.#remote = remote;
  }

  aboutRequest(ctx: RemoteContext): Conversation {
    return this.#firstOf(ctx).conversation;
  }

  /** To be called once for each answer. */
  aboutAnswer(ctx: RemoteContext): Conversation {
    const first = this.#firstOf(ctx);
    if (first.hasAnswer) return this.#open(ctx);
    first.hasAnswer = true;
    return first.conversation;
  }

  #firstOf(ctx: RemoteContext): Run {
    const known = this.#first.get(ctx.req);
    if (known) return known;
    const made = { conversation: this.#open(ctx), hasAnswer: false };
    this.#first.set(ctx.req, made);
    return made;
  }

  #open(ctx: RemoteContext): Conversation {
    const id = this.#remote.nextId(ctx.state.requestId);
    return this.#remote.settings.protocol === 'litellm'
      ? new LitellmConversation(this.#remote, ctx, id)
      : new OwnConversation(this.#remote, ctx, id);
  }
}
