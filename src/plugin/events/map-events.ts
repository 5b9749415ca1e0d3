import type { BatchSource } from './batch-source.js';
import { BatchStep } from './batch-step.js';
import { dispatch, type DispatchTable } from '../dispatch.js';
import { ModelEvent, type ModelEventBatch, type ModelEvents } from './events.js';
import type { MessagesStreamEvent } from '../contract/messages.js';

/**
 * Handlers by event type: return the event itself to keep it as received, another one to replace it, several
 * to add, none (`[]`) to drop it. Their second argument is the choice.
 */
export type EventMap = Partial<
  DispatchTable<MessagesStreamEvent, number, MessagesStreamEvent | readonly MessagesStreamEvent[]>
>;

/**
 * Transform that changes the named event types and passes the rest through unparsed; batches stay batches.
 * Events before one that cannot be mapped are passed on before the error is thrown.
 */
export function mapEvents(events: ModelEvents, map: EventMap): BatchSource<ModelEventBatch> {
  return new MappedEvents(events, map);
}

class MappedEvents extends BatchStep<ModelEventBatch, ModelEventBatch> {
  readonly #map: EventMap;
  #failure: MappedBatch['failure'];

  constructor(events: ModelEvents, map: EventMap) {
    super(events);
    this.#map = map;
  }

  protected override take(batch: ModelEventBatch): ModelEventBatch | undefined {
    const { mapped, failure } = mapBatch(batch, this.#map);
    this.#failure = failure;
    return mapped.length > 0 ? mapped : undefined;
  }

  protected override check(): void {
    if (this.#failure) throw this.#failure.error;
  }
}

interface MappedBatch {
  readonly mapped: ModelEventBatch;
  /** Error at which the batch breaks off. */
  readonly failure: { readonly error: unknown } | undefined;
}

/** Most frequent event type; its handler is looked up once for each batch. */
const delta = 'content_block_delta';

/** Maps a batch; one without changes is returned as it is. */
function mapBatch(batch: ModelEventBatch, map: EventMap): MappedBatch {
  const mapsDeltas = Object.hasOwn(map, delta);
  let mapped: ModelEvent[] | undefined;
  let at = 0;
  for (const event of batch) {
    if (event.type === delta ? mapsDeltas : Object.hasOwn(map, event.type)) {
      mapped ??= batch.slice(0, at);
      try {
        addMapped(event, map, mapped);
      } catch (error) {
        return { mapped, failure: { error } };
      }
    } else mapped?.push(event);
    at += 1;
  }
  return { mapped: mapped ?? batch, failure: undefined };
}

function addMapped(event: ModelEvent, map: EventMap, mapped: ModelEvent[]): void {
  const { json, choice } = event;
  const result = dispatch(map, json, choice) ?? json;
  if (result === json) mapped.push(event);
  else if (!isList(result)) mapped.push(ModelEvent.of(result, choice));
  else for (const each of result) mapped.push(each === json ? event : ModelEvent.of(each, choice));
}

function isList(
  result: MessagesStreamEvent | readonly MessagesStreamEvent[],
): result is readonly MessagesStreamEvent[] {
  return Array.isArray(result);
}

/** Calls `see` for each event that passes; changes nothing. */
export function tapEvents(
  events: ModelEvents,
  see: (event: ModelEvent) => void,
): BatchSource<ModelEventBatch> {
  return new TappedEvents(events, see);
}

class TappedEvents extends BatchStep<ModelEventBatch, ModelEventBatch> {
  readonly #see: (event: ModelEvent) => void;

  constructor(events: ModelEvents, see: (event: ModelEvent) => void) {
    super(events);
    this.#see = see;
  }

  protected override take(batch: ModelEventBatch): ModelEventBatch {
    for (const event of batch) this.#see(event);
    return batch;
  }
}
