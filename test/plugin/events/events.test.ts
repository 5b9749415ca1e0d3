import { expect } from 'chai';
import { mapEvents, ModelEvent, type EventMap, type ModelEventBatch } from '@gw2api/gateway/plugin';
import { messageEvents } from '@gw2api/gateway/testing';

const turn = messageEvents({ text: 'Hello.' }).map(
  (event) => new ModelEvent(event.type, JSON.stringify(event)),
);

async function* arriving(...batches: readonly ModelEventBatch[]): AsyncGenerator<ModelEventBatch> {
  yield* batches;
}

interface Mapped {
  readonly batches: readonly ModelEventBatch[];
  readonly types: readonly (readonly string[])[];
  readonly error: unknown;
}

/** What comes of one batch, with the error that ends it. */
async function mapped(batch: ModelEventBatch, map: EventMap): Promise<Mapped> {
  const batches: ModelEventBatch[] = [];
  const read = async () => {
    for await (const part of mapEvents(arriving(batch), map)) batches.push(part);
  };
  const error = await read().catch((thrown: unknown) => thrown);
  return { batches, types: batches.map((part) => part.map(({ type }) => type)), error };
}

describe('mapEvents', () => {
  it('gives a batch with nothing to change as it is', async () => {
    const batch = turn.slice(1, 4);
    expect((await mapped(batch, { message_delta: () => [] })).batches[0]).to.equal(batch);
  });

  it('replaces, adds and drops events, and leaves the rest in its own text', async () => {
    const ping = { type: 'ping' } as const;
    const map: EventMap = {
      message_start: (event) => [event, ping],
      content_block_stop: () => [],
      message_delta: (event) => ({ ...event, delta: { ...event.delta, stop_reason: 'max_tokens' } }),
    };
    const { batches, types } = await mapped(turn, map);
    expect(types).to.deep.equal([
      [
        'message_start',
        'ping',
        'content_block_start',
        'content_block_delta',
        'message_delta',
        'message_stop',
      ],
    ]);
    const [batch] = batches;
    expect(batch![0]).to.equal(turn[0]);
    expect(batch![4]!.data).to.include('"stop_reason":"max_tokens"');
  });

  it('leaves an event alone for which nothing is given back, and never parses what it does not name', async () => {
    const broken = new ModelEvent('content_block_delta', '{oh no');
    const { types } = await mapped([turn[0]!, broken], { message_start: (event) => event });
    expect(types).to.deep.equal([['message_start', 'content_block_delta']]);
  });

  it('gives no batch where nothing is left of one', async () => {
    expect((await mapped([turn.at(-1)!], { message_stop: () => [] })).batches).to.deep.equal([]);
  });

  it('lets go on what stood before an event that cannot be mapped, and then throws', async () => {
    const error = new Error('no');
    const map: EventMap = {
      message_delta() {
        throw error;
      },
    };
    const first = ['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'];
    expect(await mapped(turn, map)).to.deep.include({ types: [first], error });
    expect(await mapped(turn.slice(4), map)).to.deep.include({ types: [], error });
  });
});
