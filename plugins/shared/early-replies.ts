import {
  EventStream,
  type GatewayState,
  type Host,
  type Intercept,
  type ModelEvent,
  type ModelReply,
  type ReplyEncoder,
} from '@gw2api/gateway/plugin';

type Text = ReturnType<ReplyEncoder['stream']>;
type EarlyState = Pick<GatewayState, 'reply' | 'trace'>;

/** Streamed replies that begin before their upstream's content, so that no proxy times out. */
export class EarlyReplies {
  readonly #afterMs: number;
  readonly #clock: Host['clock'];
  /** Calls that continue behind an early reply, by the trace of their request. */
  readonly #calls = new WeakMap<object, Promise<ModelReply>>();

  constructor(afterMs: number, clock: Host['clock']) {
    this.#afterMs = afterMs;
    this.#clock = clock;
  }

  /** Replies after the time limit at the latest; a later failure is then one of the stream. */
  readonly intercept: Intercept = async (request, call, { state }) => {
    const called = call(request);
    const { delivery, trace } = state as unknown as Pick<GatewayState, 'delivery' | 'trace'>; // its stage requires them
    if (delivery !== 'stream' || (await this.#isInTime(called))) return called;
    this.#calls.set(trace, called);
    return { status: 200, headers: {}, model: '', attempts: 1, events: eventsOf(called) };
  };

  /** Text of an early reply, after a keep-alive; undefined for any other. */
  text(encoder: ReplyEncoder, { reply, trace }: EarlyState): Text | undefined {
    const called = this.#calls.get(trace);
    return called && EventStream.from(textOf(called, reply, encoder));
  }

  /** Throws the failure of a call that fails within the limit. */
  #isInTime(called: Promise<ModelReply>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.setTimer(() => resolve(false), this.#afterMs);
      void called.then(() => resolve(true), reject).finally(cancel);
    });
  }
}

/** Events of a call, or its failure, once there are any. */
function eventsOf(called: Promise<ModelReply>): EventStream {
  let isTaken = false;
  return EventStream.chain(EventStream.from(nothing()), async () => {
    if (isTaken) return undefined;
    isTaken = true;
    return (await called).events;
  });
}

async function* nothing(): AsyncGenerator<readonly ModelEvent[]> {
  // Its answer follows.
}

/** Waits for the model that answers, whose name the text contains; throws the failure of the events. */
async function* textOf(
  called: Promise<ModelReply>,
  reply: ModelReply,
  encoder: ReplyEncoder,
): AsyncGenerator<string | Uint8Array> {
  yield encoder.keepAlive ?? '';
  const { model } = await called.catch(() => reply);
  yield* encoder.stream({ ...reply, model });
}
