import { expect } from 'chai';
import { hold, ModelEvent, type ModelEventBatch, type ModelReply } from '@gw2api/gateway/plugin';
import { eventsOf, messageEvents, replyOf } from '@gw2api/gateway/testing';

const turn = messageEvents({ text: 'Hello.' });

describe('hold', () => {
  it('folds the answer, and gives a reply that goes out in the same batches', async () => {
    const batches = [turn.slice(0, 2), turn.slice(2, 4), turn.slice(4)].map((batch) => batch.map(eventOf));
    const { message, isWhole, reply } = await hold(replyOf(generated(batches)));
    expect(isWhole).to.equal(true);
    expect(message?.content).to.deep.equal([{ type: 'text', text: 'Hello.' }]);
    expect(message?.usage.output_tokens).to.equal(5);
    const out = await batchesOf(reply);
    expect(
      out.every((batch, at) => batch === batches[at]),
      'the same objects',
    ).to.equal(true);
    expect(out).to.have.length(3);
  });

  it('streams an answer on that is larger than max, and reads no more of it before its reader', async () => {
    let given = 0;
    const many = (async function* () {
      for (; given < 100; given += 1) yield [eventOf(textDelta('x'.repeat(1000)))];
    })();
    const { message, isWhole, reply } = await hold(replyOf(many), { max: '4kb' });
    expect([message, isWhole]).to.deep.equal([undefined, false]);
    expect(given).to.be.below(8);
    expect(await batchesOf(reply)).to.have.length(100);
  });

  it('passes an answer on that breaks off, and its error', async () => {
    const { isWhole, reply } = await hold(replyOf(eventsOf(turn.slice(0, 3), new Error('It broke.'))));
    expect(isWhole).to.equal(false);
    const seen: ModelEventBatch[] = [];
    const error = await collect(reply, seen).catch((thrown: Error) => thrown.message);
    expect([seen.length, error]).to.deep.equal([1, 'It broke.']);
  });

  it('has no message for an answer without an end, or with an event that is not valid', async () => {
    const cut = await hold(replyOf(eventsOf(turn.slice(0, 3))));
    expect(cut.message).to.equal(undefined);
    const broken = generated([[new ModelEvent('message_start', '{')], turn.map(eventOf)]);
    const { isWhole, reply } = await hold(replyOf(broken));
    expect(isWhole).to.equal(false);
    expect(await batchesOf(reply)).to.have.length(2);
  });

  it('ends where its source is cancelled, and cancels it where the reader of the reply leaves', async () => {
    let hasLeft = false;
    const endless = (async function* () {
      try {
        yield turn.map(eventOf);
        yield [eventOf(textDelta('more'))];
      } finally {
        hasLeft = true;
      }
    })();
    const { reply } = await hold(replyOf(endless), { max: 1 });
    for await (const batch of reply.events) if (batch.length > 0) break;
    await new Promise(setImmediate);
    expect(hasLeft).to.equal(true);
  });

  it('takes a size, and says so', async () => {
    const error = await hold(replyOf(), { max: 'much' }).catch((thrown: Error) => thrown.message);
    expect(error).to.equal('"much" is not a size such as "512kb" or "128mb", or a number of bytes.');
  });
});

function eventOf(json: (typeof turn)[number]): ModelEvent {
  return ModelEvent.of(json);
}

function textDelta(text: string): (typeof turn)[number] {
  return { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
}

async function* generated(batches: readonly ModelEventBatch[]): AsyncGenerator<ModelEventBatch> {
  yield* batches;
}

async function batchesOf(reply: ModelReply): Promise<readonly ModelEventBatch[]> {
  const seen: ModelEventBatch[] = [];
  await collect(reply, seen);
  return seen;
}

async function collect({ events }: ModelReply, seen: ModelEventBatch[]): Promise<void> {
  for await (const batch of events) seen.push(batch);
}
