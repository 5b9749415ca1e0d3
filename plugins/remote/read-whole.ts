import { EventStream, ModelEvent, type ModelEventBatch } from '@gw2api/gateway/plugin';

/** Events of a whole answer; `rest`: all of them as a stream, if they are too many. */
export interface WholeEvents {
  readonly batches: readonly ModelEventBatch[];
  readonly rest?: EventStream;
}

/** Reads an answer to its end, up to a size in bytes. Throws its failure. */
export async function readWhole(events: EventStream, maxBytes: number): Promise<WholeEvents> {
  const batches: ModelEventBatch[] = [];
  const reader = events[Symbol.asyncIterator]();
  for (let bytes = 0; ;) {
    const { done, value } = await reader.next();
    if (done) return { batches };
    batches.push(value);
    bytes += ModelEvent.heldBytes(value);
    if (bytes > maxBytes) return { batches, rest: EventStream.from(continued(batches, reader)) };
  }
}

async function* continued(
  batches: readonly ModelEventBatch[],
  reader: AsyncIterator<ModelEventBatch, undefined>,
): AsyncGenerator<ModelEventBatch> {
  try {
    yield* batches;
    for (let next = await reader.next(); !next.done; next = await reader.next()) yield next.value;
  } finally {
    await reader.return?.();
  }
}
