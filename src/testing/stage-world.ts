import { once } from 'node:events';
import { request as sendRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type Koa from 'koa';
import {
  EventStream,
  ModelEvent,
  type GatewayError,
  type GatewayState,
  type MessagesStreamEvent,
  type ModelEventBatch,
  type ModelReply,
  type Plugin,
  type SlotPicker,
} from '../plugin/index.js';
import { within } from '../kit/time/within.js';
import { eventsOf, replyOf } from './events.js';
import { fakeFormat } from './fake-format.js';
import { fakeSlot, pickerOf } from './fake-slots.js';
import type { StageRequest } from './send.js';

/** Event of a model, a failure in its place, or a silence that only the end of the call ends. */
type Scripted = MessagesStreamEvent | Error | 'endless';

/** Surroundings of a stage in a test: the model above, and the stages below that write its answer. */
export class StageWorld {
  /** Reply of the model, read at most once. */
  readonly reply: ModelReply;
  readonly picker: SlotPicker;
  /** Number of times that the stages below were reached. */
  passes = 0;
  readonly #script: readonly Scripted[];
  readonly #error: GatewayError | undefined;
  readonly #closed: Promise<void>;
  #markClosed: () => void = () => undefined;

  /** `error` is thrown by the stages below, or by the call. */
  constructor(script: readonly Scripted[], error?: GatewayError) {
    this.#script = script;
    this.#error = error;
    this.#closed = new Promise((resolve) => {
      this.#markClosed = resolve;
    });
    this.reply = replyOf(EventStream.from(this.#events()));
    this.picker = pickerOf(fakeSlot('a', { generate: () => this.reply.events })).picker;
  }

  /** Copy of the events from their start. */
  copy(): EventStream {
    return eventsOf(...this.#script.filter((event) => event !== 'endless'));
  }

  async call(): Promise<ModelReply> {
    if (this.#error) throw this.#error;
    return this.reply;
  }

  /** Ends a silence. */
  end(): void {
    this.#markClosed();
  }

  /** True once the reader has closed the events. */
  isClosed(): Promise<boolean> {
    return within(this.#closed, closeMs, 'late').then(
      () => true,
      () => false,
    );
  }

  /** The stages below: they count, fail on demand, and write the answer. */
  below(
    { provides, requires }: Plugin,
    delivery: GatewayState['delivery'],
    { reply }: Partial<GatewayState>,
  ): (ctx: Koa.Context) => Promise<void> {
    return async (ctx) => {
      this.passes += 1;
      await new Promise(setImmediate); // a stage that does not wait has answered by now
      const isReached = !provides.includes('reply') || requires.includes('reply');
      if (this.#error) throw this.#error;
      if (provides.includes('response')) return;
      const state = ctx.state as GatewayState; // Koa types it as anything
      if (isReached && reply) state.reply ??= reply;
      const { events } = state.reply;
      ctx.res.once('close', () => events.cancel(new Error('The caller has left.')));
      const encoder = await fakeFormat('messages').encoder({}, undefined as never); // it reads neither
      if (delivery === 'whole') ctx.body = await encoder.whole(state.reply);
      else {
        ctx.type = 'text/event-stream';
        ctx.body = Readable.from(encoder.stream(state.reply));
      }
    };
  }

  /** Sends a request, and disconnects once its answer has begun. */
  async leave(
    origin: string,
    { headers = {}, body, path = '/v1/messages' }: StageRequest,
  ): Promise<undefined> {
    const type = { 'content-type': 'application/json' };
    const sent = sendRequest(new URL(path, origin), {
      method: 'POST',
      headers: { ...type, ...headers },
      agent: false,
    });
    sent.on('error', () => undefined); // it was destroyed
    sent.end(typeof body === 'string' ? body : JSON.stringify(body));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]; // the event's one argument
    answer.on('error', () => undefined); // as above
    await Promise.race([once(answer, 'data'), once(answer, 'close')]);
    sent.destroy();
  }

  /** An iterator rather than a generator, which could not be closed while it waits. */
  #events(): AsyncIterable<ModelEventBatch> {
    const script = this.#script.values();
    const done = { done: true, value: undefined } as const;
    const next = async () => {
      const { value: event } = script.next();
      if (event instanceof Error) throw event;
      if (event === 'endless') await this.#closed;
      return typeof event === 'object' ? { done: false, value: [ModelEvent.of(event)] } : done;
    };
    const close = async () => {
      this.#markClosed();
      return done;
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: close }) };
  }
}

const closeMs = 2000;
