import type { MessagesRequest, ModelCall, ModelReply } from '@gw2api/gateway/plugin';
import type { Conversation } from './conversation.js';
import type { Conversations } from './conversations.js';
import type { Remote, RemoteContext } from './remote.js';

/** Reply of a call, with the request that it answers and the conversation about it. */
export interface AskedReply {
  readonly reply: ModelReply;
  readonly request: MessagesRequest;
  readonly conversation: Conversation;
  readonly ctx: RemoteContext;
}

/** Review of the replies of calls, each in a conversation of its own. */
export abstract class AnswerReview {
  protected readonly remote: Remote;
  readonly #conversations: Conversations;

  constructor(remote: Remote, conversations: Conversations) {
    this.remote = remote;
    this.#conversations = conversations;
  }

  /** Throws the failure of the call, and a `stage_failed` that has the reply to continue with. */
  async review(request: MessagesRequest, call: ModelCall, ctx: RemoteContext): Promise<ModelReply> {
    const conversation = this.#conversations.aboutAnswer(ctx);
    const reply = await call(request);
    return this.ask({ reply, request, conversation, ctx });
  }

  /** The reply as it may go on. */
  protected abstract ask(asked: AskedReply): ModelReply | Promise<ModelReply>;
}
