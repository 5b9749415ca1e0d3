import {
  EventStream,
  isGatewayError,
  skippable,
  withFields,
  type GatewayError,
  type ModelEvent,
  type ModelEventBatch,
  type ModelReply,
} from '@gw2api/gateway/plugin';
import { callSignal } from '@gw2api/gateway/plugin/raw';
import { AnswerGrammar, refusalEvents, reviewed } from '@gw2api/gateway/plugin/remote';
import { AnswerReview, type AskedReply } from './answer-review.js';
import { messageOf, type AnswerVerdict, type WholeAnswer } from './conversation.js';
import { readWhole } from './read-whole.js';

/** Asks about answers: as a whole, or about their events while they stream. */
export class AnswerPhase extends AnswerReview {
  protected ask(asked: AskedReply): Promise<ModelReply> {
    return this.remote.settings.asksEvents ? this.#reviewEvents(asked) : this.#reviewWhole(asked);
  }

  async #reviewEvents({ reply, request, conversation, ctx }: AskedReply): Promise<ModelReply> {
    const { host, settings } = this.remote;
    let until: AbortSignal | undefined;
    const { events, started } = reviewed(
      reply.events,
      (chunk, signal) => {
        until ??= AbortSignal.any([signal, ctx.state.signal]); // the signal is that of all chunks
        return conversation.aboutEvents(request, chunk, until);
      },
      {
        ...this.remote.reviewOptions,
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

  async #reviewWhole({ reply, request, conversation, ctx }: AskedReply): Promise<ModelReply> {
    const { answerBytes } = this.remote.settings;
    const { batches, rest } = await readWhole(reply.events, answerBytes);
    if (rest)
      throw skippable(
        this.remote.failed(`the answer is longer than ${answerBytes} bytes (with.answer)`),
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
