import { expect } from 'chai';
import {
  committed,
  continuePausedTurns,
  mapEvents,
  ModelEvent,
  sseBody,
  tapEvents,
  type ModelEventBatch,
  type ModelEvents,
} from 'gw2api/plugin';
import { messageEvents, replyOf } from 'gw2api/testing';
import { chatStream } from '#src/formats/chat/stream.js';
import { messagesStream } from '#src/formats/messages/stream.js';
import { relay, type StreamWriter } from '#src/formats/relay.js';

const turn = messageEvents({ text: 'Hello.' }).map((event) => ModelEvent.of(event));
const request = { model: 'm', max_tokens: 1, messages: [] };

type Step = (events: ModelEvents) => AsyncIterator<unknown> | Promise<AsyncIterator<unknown>>;

const opened = (events: AsyncIterable<unknown>) => events[Symbol.asyncIterator]();

const steps: Readonly<Record<string, Step>> = {
  mapEvents: (events) => opened(mapEvents(events, {})),
  tapEvents: (events) => opened(tapEvents(events, () => undefined)),
  committed: async (events) => opened(await committed(events, { delivery: 'stream' })),
  continuePausedTurns: async (events) => {
    const { events: joined } = await continuePausedTurns(1)(() => Promise.resolve(replyOf(events)))(request);
    return opened(joined);
  },
  relay: (events) => opened(messagesStream(events, 'm')),
};

/** Gives its batches, then waits or breaks; notes how often its consumer has left. */
class Source implements AsyncIterableIterator<ModelEventBatch, undefined> {
  readonly #batches: ModelEventBatch[];
  readonly #error: Error | undefined;
  #leave: ((result: IteratorResult<ModelEventBatch, undefined>) => void) | undefined;
  left = 0;

  constructor(batches: readonly ModelEventBatch[], error?: Error) {
    this.#batches = [...batches];
    this.#error = error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<ModelEventBatch, undefined>> {
    const value = this.#batches.shift();
    if (value) return Promise.resolve({ done: false, value });
    if (this.#error) return Promise.reject(this.#error);
    return new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  return(): Promise<IteratorResult<ModelEventBatch, undefined>> {
    this.left += 1;
    this.#leave?.({ done: true, value: undefined });
    return Promise.resolve({ done: true, value: undefined });
  }
}

const ended = { done: true, value: undefined };

for (const [name, step] of Object.entries(steps)) {
  describe(`the events of ${name}`, () => {
    it('leave their source where the consumer leaves before the first batch', async () => {
      const source = new Source([turn.slice(0, 3)]);
      const events = await step(source);
      expect(await events.return!()).to.deep.equal(ended);
      expect(source.left).to.equal(1);
      expect(await events.next()).to.deep.equal(ended);
    });

    it('leave it where the consumer leaves after a batch, and only once', async () => {
      const source = new Source([turn.slice(0, 3), turn.slice(3)]);
      const events = await step(source);
      expect((await events.next()).done).to.equal(false);
      await events.return!();
      await events.return!();
      expect(source.left).to.equal(1);
      expect(await events.next()).to.deep.equal(ended);
    });

    it('end a pending read where the consumer leaves meanwhile', async () => {
      const source = new Source([turn.slice(0, 3)]);
      const events = await step(source);
      await events.next();
      const pending = events.next();
      expect(await events.return!()).to.deep.equal(ended);
      expect(await pending).to.deep.equal(ended);
      expect(source.left).to.equal(1);
    });

    it('break off as their source does, once, and have ended then', async () => {
      const error = new Error('broken');
      const events = await step(new Source([turn.slice(0, 3)], error));
      const thrown: unknown[] = [];
      let given = 0;
      for (let reads = 0; reads < 6; reads += 1) {
        const result = await events.next().catch((reason: unknown) => thrown.push(reason));
        if (typeof result === 'object' && !result.done) given += 1;
      }
      expect(thrown).to.have.lengthOf(1);
      expect([thrown[0], (thrown[0] as Error).cause]).to.include(error);
      expect(given).to.equal(name === 'relay' ? 2 : 1); // the dialect's own error event
      expect(await events.next()).to.deep.equal(ended);
    });
  });
}

describe('a step that fails', () => {
  it('leaves its source', async () => {
    const source = new Source([turn]);
    const events = tapEvents(source, () => {
      throw new Error('no');
    });
    const error = await events.next().catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'no');
    expect(source.left).to.equal(1);
    expect(await events.next()).to.deep.equal(ended);
  });

  it('tells the end of the events after the commit point once, before it leaves them', async () => {
    const told: number[] = [];
    const source = new Source([turn.slice(0, 3)]);
    const events = await committed(source, { delivery: 'stream', onEnd: () => told.push(source.left) });
    const iterator = opened(events);
    await iterator.return!();
    await iterator.return!();
    expect(told).to.deep.equal([0]);
  });
});

describe('an iterator that somebody wrote by hand', () => {
  /** Whatever `next` makes of itself. */
  const handWritten = (next: () => unknown) =>
    ({ [Symbol.asyncIterator]: () => ({ next }) }) as unknown as ModelEvents; // as plain JavaScript has it

  it('may give what it has without a promise', async () => {
    const left = [turn];
    const events = handWritten(() => {
      const value = left.shift();
      return value ? { done: false, value } : { done: true, value: undefined };
    });
    let text = '';
    for await (const piece of messagesStream(events, 'm')) text += piece.toString();
    expect(text).to.include('message_stop');
  });

  it('may throw at once', async () => {
    const fault = new Error('no');
    const events = opened(
      messagesStream(
        handWritten(() => {
          throw fault;
        }),
        'm',
      ),
    );
    expect(String((await events.next()).value)).to.include('event: error');
    const thrown = await events.next().catch((error: unknown) => error);
    expect(thrown).to.have.property('cause', fault);
  });
});

describe('a dialect that fails at telling its failure', () => {
  it('has it thrown', async () => {
    const fault = new Error('broken');
    const writer: StreamWriter = {
      isComplete: false,
      add() {},
      finish() {},
      fail() {
        throw new Error('no');
      },
      take: () => Buffer.alloc(0),
    };
    const events = relay(new Source([], fault), writer);
    const thrown = await events.next().catch((error: unknown) => error);
    expect(thrown).to.have.property('cause', fault);
    expect(await events.next()).to.deep.equal(ended);
  });
});

describe('a very long answer that is all there', () => {
  const stop = { type: 'content_block_stop', index: 9 } as const; // of a block that has never begun
  const idle = Array.from({ length: 20_000 }, () => [ModelEvent.of(stop)]);
  const batches = [turn.slice(0, 3), ...idle, turn.slice(3)];
  const names = { model: 'm', created: 1, includeUsage: false, isLegacy: false, tools: new Map() };
  const chatRequest = { ...names, n: 1 };

  async function* all(): ModelEvents {
    yield* batches;
  }

  async function whole(): Promise<ModelEvents> {
    return committed(all(), { delivery: 'whole' });
  }

  it('passes a step that leaves nothing of most of it', async () => {
    const events = mapEvents(await whole(), {
      content_block_stop: (event) => (event.index === 9 ? [] : event),
    });
    let given = 0;
    for await (const _ of events) given += 1;
    expect(given).to.equal(2);
  });

  it('passes a dialect that has no word for most of it', async () => {
    let text = '';
    for await (const piece of chatStream(await whole(), chatRequest)) text += piece.toString();
    expect(text).to.match(/data: \[DONE\]\n\n$/);
  });

  it('passes a body that takes all of it at once', async () => {
    const body = sseBody(messagesStream(await whole(), 'm'), {
      keepAlive: '',
      keepAliveMs: 60_000,
      onFailure: (error) => expect.fail(String(error)),
    });
    let length = 0;
    for await (const piece of body) length += (piece as Buffer).length;
    expect(length).to.be.greaterThan(20_000 * 'event: content_block_stop'.length);
  });
});
