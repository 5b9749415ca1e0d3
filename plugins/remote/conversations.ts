import type { Conversation } from './conversation.js';
import { LitellmConversation } from './litellm.js';
import { OwnConversation } from './own-conversation.js';
import type { Remote, RemoteContext } from './remote.js';

interface Run {
  readonly conversation: Conversation;
  /** True once an answer is asked about in it. */
  hasAnswer: boolean;
}

/**
 * Conversations by request: that of its first answer begins with the request, and each further answer has another. With
 * a guard of LiteLLM it is one for all, as guards look up what they know about a request by its call id.
 */
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
    if (first.hasAnswer && this.#remote.settings.protocol === 'gw2api') return this.#open(ctx);
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
    return this.#remote.settings.protocol === 'litellm'
      ? new LitellmConversation(this.#remote, ctx)
      : new OwnConversation(this.#remote, ctx, this.#remote.nextId(ctx.state.requestId));
  }
}
