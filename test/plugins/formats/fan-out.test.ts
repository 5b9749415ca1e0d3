import { expect } from 'chai';
import * as fc from 'fast-check';
import { ModelEvent, type ModelCall, type ModelEventBatch, type ModelEvents } from '@gw2api/gateway/plugin';
import { replyOf } from '@gw2api/gateway/testing';
import { fanOut, type Variant } from '#plugins/formats/shared/fan-out.js';

const request = { model: 'm', messages: [] };

/** A source under the test's control: it gives what it is told to, and remembers what it was asked. */
class Source implements ModelEvents {
  asked = 0;
  isEnded = false;
  #waiting: Deferred<IteratorResult<ModelEventBatch>>[] = [];

  give(...texts: readonly string[]): void {
    this.#take().resolve({ done: false, value: texts.map(event) });
  }

  end(): void {
    this.#take().resolve({ done: true, value: undefined });
  }

  fail(error: Error): void {
    this.#take().reject(error);
  }

  [Symbol.asyncIterator](): AsyncIterator<ModelEventBatch> {
    return {
      next: () => {
        this.asked += 1;
        const waiting = deferred<IteratorResult<ModelEventBatch>>();
        this.#waiting.push(waiting);
        return waiting.promise;
      },
      return: async () => {
        this.isEnded = true;
        for (const waiting of this.#waiting.splice(0)) waiting.resolve({ done: true, value: undefined });
        return { done: true, value: undefined };
      },
    };
  }

  #take(): Deferred<IteratorResult<ModelEventBatch>> {
    const waiting = this.#waiting.shift();
    return waiting ?? expect.fail('Nobody has asked.');
  }
}

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: Error): void;
}

/** `Promise.withResolvers` of newer Nodes. */
function deferred<Value>(): Deferred<Value> {
  const parts: Partial<Deferred<Value>> = {};
  const promise = new Promise<Value>((resolve, reject) => Object.assign(parts, { resolve, reject }));
  return Object.assign(parts, { promise }) as Deferred<Value>; // the executor has run
}

function event(text: string): ModelEvent {
  return new ModelEvent('content_block_delta', text);
}

/** Calls that answer with the given sources, in order; all their replies differ. */
function callsOf(sources: readonly ModelEvents[]): ModelCall {
  const left = [...sources.entries()];
  return async () => {
    const [at, events] = left.shift() ?? expect.fail('One call too many.');
    return replyOf(events, { slot: `slot-${at}`, attempts: at + 1, headers: { 'request-id': `${at}` } });
  };
}

async function opened(sources: readonly ModelEvents[]) {
  const reply = await fanOut(sources.length)(request, callsOf(sources));
  return { reply, iterator: reply.events[Symbol.asyncIterator]() };
}

function shown(result: IteratorResult<ModelEventBatch>): readonly string[] | 'done' {
  return result.done ? 'done' : result.value.map(({ choice, data }) => `${choice}${data}`);
}

async function* endless(): AsyncGenerator<ModelEventBatch> {
  for (;;) yield [event('.')];
}

/** Lets everything happen that waits for nothing but promises. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('a fan-out', () => {
  it('has slot, status and headers of the first call, and the attempts of all', async () => {
    const { reply } = await opened([new Source(), new Source(), new Source()]);
    expect(reply).to.deep.include({
      slot: 'slot-0',
      status: 200,
      attempts: 6,
      headers: { 'request-id': '0' },
    });
  });

  it('asks with what each call makes of the request', async () => {
    const asked: unknown[] = [];
    const call: ModelCall = async ({ max_tokens }) => {
      asked.push(max_tokens);
      return replyOf();
    };
    const variants = [1, 2].map((max_tokens): Variant => (prepared) => ({ ...prepared, max_tokens }));
    await fanOut(variants)(request, call);
    expect(asked).to.deep.equal([1, 2]);
  });

  it('gives batches as they arrive, each with its choice', async () => {
    const [a, b] = [new Source(), new Source()];
    const { iterator } = await opened([a, b]);
    const first = iterator.next();
    b.give('x', 'y');
    expect(shown(await first)).to.deep.equal(['1x', '1y']);
    a.give('z');
    expect(shown(await iterator.next())).to.deep.equal(['0z']);
    const last = iterator.next();
    a.end();
    b.end();
    expect(shown(await last)).to.equal('done');
  });

  it('takes turns between sources that are always ready', async () => {
    const { iterator } = await opened([endless(), endless(), endless()]);
    const seen: string[] = [];
    for (let at = 0; at < 300; at += 1) seen.push(...(shown(await iterator.next()) as string[]));
    await iterator.return?.();
    for (const choice of ['0.', '1.', '2.'])
      expect(seen.filter((text) => text === choice)).to.have.length.within(90, 110);
  });

  it('asks no source for more while its last batch waits for the reader', async () => {
    const [a, b] = [new Source(), new Source()];
    const { iterator } = await opened([a, b]);
    const first = iterator.next();
    a.give('x');
    b.give('y');
    await first;
    await settled();
    expect([a.asked, b.asked]).to.deep.equal([1, 1]);
    await iterator.next();
    await settled();
    expect([a.asked, b.asked]).to.deep.equal([1, 1]);
    const third = iterator.next();
    await settled();
    expect([a.asked, b.asked]).to.deep.equal([2, 2]);
    a.give('z');
    expect(shown(await third)).to.deep.equal(['0z']);
  });

  it('ends all sources when the reader leaves, even in the middle of a wait', async () => {
    const [a, b] = [new Source(), new Source()];
    const { iterator } = await opened([a, b]);
    const waiting = iterator.next();
    await iterator.return?.();
    expect([a.isEnded, b.isEnded]).to.deep.equal([true, true]);
    expect(shown(await waiting)).to.equal('done');
  });

  it('ends the other sources when one breaks, and throws its error', async () => {
    const [a, b] = [new Source(), new Source()];
    const { iterator } = await opened([a, b]);
    const next = iterator.next();
    b.fail(new Error('broken'));
    expect(await next.catch((error: unknown) => String(error))).to.equal('Error: broken');
    expect(a.isEnded).to.equal(true);
  });

  it('throws the first failure of a call at once, and ends the others when they are there', async () => {
    const late = deferred<ReturnType<typeof replyOf>>();
    const answered = new Source();
    const calls = [
      () => late.promise,
      async () => replyOf(answered),
      () => Promise.reject(new Error('refused')),
    ];
    const told = fanOut(3)(request, () => (calls.shift() ?? expect.fail('One call too many.'))());
    expect(await told.then(String, String)).to.equal('Error: refused');
    const source = new Source();
    late.resolve(replyOf(source));
    await settled();
    expect([answered.isEnded, source.isEnded]).to.deep.equal([true, true]);
  });

  it('reads early replies ahead only up to a bound, and goes on when the last one has come', async () => {
    const late = deferred<ReturnType<typeof replyOf>>();
    const early = new Source();
    const calls = [async () => replyOf(early), () => late.promise];
    const reply = fanOut(2)(request, () => calls.shift()!());
    await settled();
    const megabyte = 'x'.repeat(1024 * 1024);
    let given = 0;
    for (; given < early.asked && given < 200; given += 1) {
      early.give(megabyte);
      await settled();
    }
    expect(given).to.be.within(60, 70);
    late.resolve(replyOf(new Source()));
    const iterator = (await reply).events[Symbol.asyncIterator]();
    for (let at = 0; at < given; at += 1)
      expect((await iterator.next()).value?.[0]?.data).to.have.length(megabyte.length);
    const next = iterator.next();
    await settled();
    expect(early.asked).to.equal(given + 1);
    await iterator.return?.();
    await next;
  });

  it('keeps each choice complete and in order, whatever the batches', async () => {
    const batches = fc.array(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(batches, { minLength: 1, maxLength: 4 }), async (choices) => {
        const sources = choices.map(async function* (batches): AsyncGenerator<ModelEventBatch> {
          for (const batch of batches) yield batch.map(event);
        });
        const reply = await fanOut(sources.length)(request, callsOf(sources));
        const seen = choices.map((): string[] => []);
        for await (const batch of reply.events)
          for (const { choice, data } of batch) seen[choice]!.push(data);
        expect(seen).to.deep.equal(choices.map((batches) => batches.flat()));
      }),
    );
  });
});
