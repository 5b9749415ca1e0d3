import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  committed,
  continuePausedTurns,
  EventStream,
  mapEvents,
  ModelEvent,
  sseBody,
  type ModelEventBatch,
  type ModelEvents,
  type Transform,
} from '#src/plugin/index.js';
import { tapEvents } from '#src/plugin/events/map-events.js';
import { StreamController, type Sink } from '@gw2api/gateway/plugin/raw';
import { messageEvents, replyOf } from '@gw2api/gateway/testing';
import { chatStream } from '#plugins/formats/chat/stream.js';
import { messagesStream } from '#plugins/formats/messages/stream.js';
import { relay, type StreamWriter } from '#plugins/formats/shared/answer/relay.js';

const turn = messageEvents({ text: 'Hello.' }).map((event) => ModelEvent.of(event));
const request = { model: 'm', max_tokens: 1, messages: [] };

type Step = (events: ModelEvents) => AsyncIterator<unknown> | Promise<AsyncIterator<unknown>>;

const opened = (events: AsyncIterable<unknown>) => events[Symbol.asyncIterator]();

const steps: Readonly<Record<string, Step>> = {
  mapEvents: (events) => opened(mapEvents(events, {})),
  tapEvents: (events) => opened(tapEvents(events, () => undefined)),
  committed: async (events) => opened(await committed(events, { delivery: 'stream' })),
  continuePausedTurns: async (events) => {
    const { events: joined } = await continuePausedTurns(1)(request, () => Promise.resolve(replyOf(events)));
    return opened(joined);
  },
  relay: (events) => opened(messagesStream(events, 'm')),
  chain: (events) => opened(EventStream.chain(EventStream.from(events), async () => undefined)),
  merge: (events) => opened(EventStream.merge([EventStream.from(events)])),
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
    const iterator = opened(events);
    const error = await iterator.next().catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'no');
    expect(source.left).to.equal(1);
    expect(await iterator.next()).to.deep.equal(ended);
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
    expect(thrown).to.equal(fault);
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
    const events = opened(relay(new Source([], fault), writer));
    const thrown = await events.next().catch((error: unknown) => error);
    expect(thrown).to.equal(fault);
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
    expect(given).to.equal(1);
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

describe('EventStream', () => {
  const numbers = (...all: readonly number[]) => EventStream.from(generated(all));

  async function* generated(all: readonly number[]): AsyncGenerator<number> {
    yield* all;
  }

  async function allOf<Value>(stream: AsyncIterable<Value>): Promise<Value[]> {
    const all: Value[] = [];
    for await (const value of stream) all.push(value);
    return all;
  }

  /** A source under the test's control. */
  function source() {
    const heard: string[] = [];
    const controller = new StreamController<number>({
      resume: () => heard.push('resume'),
      cancel: (reason) => heard.push(`cancel ${String(reason)}`),
    });
    return { heard, controller, stream: new EventStream(controller) };
  }

  const double: Transform<number> = { transform: (value) => value * 2 };

  it('passes its steps in the order in which they were added', async () => {
    const shown = numbers(1, 2, 3).through(double).through({ transform: String });
    expect(await allOf(shown)).to.deep.equal(['2', '4', '6']);
  });

  it('has one reader', async () => {
    const stream = numbers(1);
    stream.through(double);
    expect(() => stream[Symbol.asyncIterator]()).to.throw('These events already have a reader.');
  });

  it('passes what arrives through all steps in one call', () => {
    const { controller, stream } = source();
    const seen: number[] = [];
    const sink: Sink<number> = { write: (value) => seen.push(value) > 0, end: () => undefined };
    stream.through(double).through(double).pipe(sink).resume();
    expect(controller.write(1)).to.equal(true);
    expect(seen).to.deep.equal([4]);
  });

  it('asks for nothing before its reader does, and opens with the first batch', async () => {
    const { controller, heard, stream } = source();
    const doubled = stream.through(double);
    expect(heard).to.deep.equal([]);
    const isOpen = doubled.opened();
    expect(heard).to.deep.equal(['resume']);
    controller.write(21);
    await isOpen;
    controller.end();
    expect(await allOf(doubled)).to.deep.equal([42]);
  });

  it('opens for all who wait for that', async () => {
    const source = new Source([turn]);
    const events = EventStream.from(source);
    await Promise.all([events.opened(), events.opened()]);
    events.cancel();
    expect(source.left).to.equal(1);
  });

  it('opens with its failure where that comes first, and with its end', async () => {
    const failing = source();
    const isOpen = failing.stream.opened();
    failing.controller.end(new Error('no'));
    expect(await isOpen.catch(String)).to.equal('Error: no');
    const ending = source();
    ending.controller.end();
    await ending.stream.opened();
    expect(await allOf(ending.stream)).to.deep.equal([]);
  });

  it('gives the first batch, then the failure', async () => {
    const { controller, stream } = source();
    controller.write(1);
    controller.end(new Error('no'));
    await stream.opened();
    const iterator = stream[Symbol.asyncIterator]();
    expect(await iterator.next()).to.deep.equal({ done: false, value: 1 });
    expect(await iterator.next().catch(String)).to.equal('Error: no');
  });

  it('loses nothing, keeps the order and never writes to a sink that has no room', () => {
    const rooms = fc.array(fc.boolean(), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 30 }), rooms, fc.nat(3), (values, pattern, depth) => {
        const { controller, stream } = source();
        const seen: number[] = [];
        let hasRoom = false;
        let hasEnded = false;
        let at = 0;
        let steps: EventStream<number> = stream;
        for (let step = 0; step < depth; step += 1) steps = steps.through({ transform: (value) => value });
        const flow = steps.pipe({
          write(value) {
            expect(hasRoom).to.equal(true);
            seen.push(value);
            return (hasRoom = pattern[at++ % pattern.length]!);
          },
          end: () => (hasEnded = true),
        });
        const resume = () => {
          hasRoom = true;
          flow.resume();
        };
        for (const value of values) if (!controller.write(value)) resume();
        controller.end();
        for (let turn = 0; turn <= values.length; turn += 1) if (!hasEnded) resume();
        expect(seen).to.deep.equal(values);
        expect(hasEnded).to.equal(true);
      }),
    );
  });

  it('reads ahead while there is room, until its reader comes', () => {
    const { controller, stream } = source();
    stream.readAhead((value) => value < 99);
    for (let value = 0; value < 100; value += 1) expect(controller.write(value)).to.equal(value < 99);
    const seen: number[] = [];
    const flow = stream.pipe({ write: (value) => seen.push(value) !== 50, end: () => undefined });
    flow.resume();
    expect(seen).to.have.length(50);
    expect(controller.write(100)).to.equal(false);
    flow.resume();
    expect(seen).to.have.length(101);
  });

  it('waits for the last output of a step, and reads the rest of its source unread', async () => {
    const { controller, heard, stream } = source();
    let isOver = false;
    const step: Transform<number, string> = {
      transform: (value) => {
        isOver = value === 2;
        return String(value);
      },
      get isOver() {
        return isOver;
      },
      flush: async () => 'last',
    };
    const all = allOf(stream.through(step));
    for (const value of [1, 2, 3]) controller.write(value);
    await new Promise(setImmediate);
    expect(controller.write(4)).to.equal(true);
    controller.end(new Error('too late to matter'));
    expect(await all).to.deep.equal(['1', '2', 'last']);
    expect(heard).to.not.include('cancel undefined');
  });

  it('gives the last output of a step that fails, and then the error', async () => {
    const step: Transform<number, string> = {
      transform: () => {
        throw new Error('no');
      },
      fail: (error) => `failed: ${String(error)}`,
    };
    const { controller, heard, stream } = source();
    const iterator = stream.through(step)[Symbol.asyncIterator]();
    const first = iterator.next();
    controller.write(1);
    expect(await first).to.deep.equal({ done: false, value: 'failed: Error: no' });
    expect(await iterator.next().catch(String)).to.equal('Error: no');
    expect(heard).to.include('cancel Error: no');
  });

  describe('chain', () => {
    it('opens the next stream when one has ended', async () => {
      const left = [numbers(3), numbers(), numbers(4, 5)];
      const all = EventStream.chain(numbers(1, 2), async () => left.shift());
      expect(await allOf(all)).to.deep.equal([1, 2, 3, 4, 5]);
    });

    it('cancels a stream that opens after its reader has left', async () => {
      const late = source();
      let open: (stream: EventStream<number>) => void = () => undefined;
      const next = new Promise<EventStream<number>>((resolve) => (open = resolve));
      const iterator = EventStream.chain(numbers(), () => next)[Symbol.asyncIterator]();
      const pending = iterator.next();
      await new Promise(setImmediate);
      await iterator.return!();
      expect(await pending).to.deep.equal(ended);
      open(late.stream);
      await new Promise(setImmediate);
      expect(late.heard).to.deep.equal(['cancel undefined']);
    });

    it('fails with what opening the next one throws', async () => {
      const all = EventStream.chain(numbers(1), () => Promise.reject(new Error('no')));
      expect(await allOf(all).catch(String)).to.equal('Error: no');
    });
  });
});
