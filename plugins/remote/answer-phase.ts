import {
  EventStream,
  isGatewayError,
  skippable,
  type GatewayError,
  type ModelEvent,
  withFields,
  type MessagesRequest,
  type ModelCall,
  type ModelEventBatch,
  type ModelReply,
} from '@gw2api/gateway/plugin';
import { callSignal } from '@gw2api/gateway/plugin/raw';
import { AnswerGrammar, refusalEvents, reviewed } from '@gw2api/gateway/plugin/remote';
import { messageOf, type AnswerVerdict, type Conversation, type WholeAnswer } from './conversation.js';
import type { Conversations } from './conversations.js';
import type { Remote, RemoteContext } from './remote.js';
import { readWhole } from './read-whole.js';

/** Review of the reply of a call. */
export interface AnswerReview {
  /** Throws the failure of the call, and a `stage_failed` that has the reply to continue with. */
  review(request: MessagesRequest, call: ModelCall, ctx: RemoteContext): Promise<ModelReply>;
}

/** Asks about answers: as a whole, or about their events while they stream. */
export class AnswerPhase implements AnswerReview {
  readonly #remote: Remote;
  readonly #conversations: Conversations;

  constructor(remote: Remote, conversations: Conversations) {
    this.#remote = remote;
    this.#conversations = conversations;
  }

  async review(request: MessagesRequest, call: ModelCall, ctx: RemoteContext): Promise<ModelReply> {
    const conversation = this.#conversations.aboutAnswer(ctx);
    const reply = await call(request);
    return this.#remote.settings.asksEvents
      ? this.#reviewEvents(reply, { request, conversation, ctx })
      : this.#reviewWhole(reply, { request, conversation, ctx });
  }

  async #reviewEvents(reply: ModelReply, { request, conversation, ctx }: Asked): Promise<ModelReply> {
    const { host, settings } = this.#remote;
    const { events, started } = reviewed(
      reply.events,
      (chunk, signal) => {
        const until = AbortSignal.any([signal, ctx.state.signal]);
        return conversation.aboutEvents(request, chunk, until);
      },
      {
        ...this.#remote.reviewOptions,
        passesFailures: settings.passesLost,
        onPassed: (error) =>
          ctx.state.log.warn(
            { stage: host.name, err: error },
            'A remote stage failed; the rest of the answer passed on unreviewed.',
          ),
      },
    );
    const passed = withFields(reply, { events });
    try {
      await started;
    } catch (error) {
      throw isStageFailure(error) ? skippable(error, passed) : error;
    }
    return passed;
  }

  async #reviewWhole(reply: ModelReply, { request, conversation, ctx }: Asked): Promise<ModelReply> {
    const { answerBytes } = this.#remote.settings;
    const { batches, rest } = await readWhole(reply.events, answerBytes);
    if (rest)
      throw skippable(
        this.#remote.failed(`the answer is longer than ${answerBytes} bytes (with.answer)`),
        withFields(reply, { events: rest }),
      );
    const events = batches.flat();
    try {
      const answer = { events, message: messageOf(events) };
      const verdict = await conversation.aboutAnswer(request, answer, callSignal(ctx.state));
      return withFields(reply, { events: streamOf([eventsAfter(verdict, answer)]) });
    } catch (error) {
      throw isStageFailure(error)
        ? skippable(error, withFields(reply, { events: streamOf(batches) }))
        : error;
    }
  }
}

interface Asked {
  readonly request: MessagesRequest;
  readonly conversation: Conversation;
  readonly ctx: RemoteContext;
}

function isStageFailure(error: unknown): error is GatewayError {
  return isGatewayError(error) && error.code === 'stage_failed';
}

function eventsAfter(verdict: AnswerVerdict, { events }: WholeAnswer): readonly ModelEvent[] {
  if (verdict.kind === 'change') return verdict.events;
  if (verdict.kind === 'allow') return events;
  return refusalEvents(verdict.message, { grammar: new AnswerGrammar(), chunk: events, sentChars: 0 });
}

function streamOf(batches: readonly ModelEventBatch[]): EventStream {
  return EventStream.from(generated(batches));
}

async function* generated(batches: readonly ModelEventBatch[]): AsyncGenerator<ModelEventBatch> {
  yield* batches;
}
