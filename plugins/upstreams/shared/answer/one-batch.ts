import { EventStream, type ModelEventBatch } from '@gw2api/gateway/plugin';

/** Stream of an answer received as a whole. */
export function oneBatch(events: ModelEventBatch): EventStream {
  return EventStream.from(only(events));
}

async function* only(batch: ModelEventBatch): AsyncGenerator<ModelEventBatch> {
  yield batch;
}
