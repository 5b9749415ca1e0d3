import { dispatch, type DispatchTable } from '../../kit/dispatch.js';
import { ModelEvent, type ModelEventBatch, type ModelEvents } from './events.js';
import { EventStream } from './stream/event-stream.js';
import type { Transform } from './stream/stream-step.js';
import type { MessagesStreamEvent } from '../contract/messages.js';

/**
 * Handlers by event type: return the event itself to keep it as received, another one to replace it, several
 * to add, none (`[]`) to drop it. Their second argument is the choice.
 */
export type EventMap = Partial<
  DispatchTable<MessagesStreamEvent, number, MessagesStreamEvent | readonly MessagesStreamEvent[]>
>;

/**
 * Changes the named event types and passes the rest through unparsed; batches stay batches. Events before one
 * that cannot be mapped are passed on before the error is thrown.
 */
export function mapEvents(events: ModelEvents, map: EventMap): EventStream {
  return EventStream.from(events).through(new EventMapper(map));
}

/** Most frequent event type; its handler is looked up once for each batch. */
const delta = 'content_block_delta';

class EventMapper implements Transform {
  readonly #map: EventMap;
  readonly #mapsDeltas: boolean;
  /** Events of a batch before the one that cannot be mapped. */
  #mapped: ModelEvent[] | undefined;

  constructor(map: EventMap) {
    this.#map = map;
    this.#mapsDeltas = Object.hasOwn(map, delta);
  }

  /** Maps a batch; one without changes is returned as it is. */
  transform(batch: ModelEventBatch): ModelEventBatch | undefined {
    let mapped: ModelEvent[] | undefined;
    let at = 0;
    for (const event of batch) {
      if (event.type === delta ? this.#mapsDeltas : Object.hasOwn(this.#map, event.type)) {
        this.#mapped = mapped ??= batch.slice(0, at);
        addMapped(event, this.#map, mapped);
      } else mapped?.push(event);
      at += 1;
    }
    this.#mapped = undefined;
    return mapped?.length === 0 ? undefined : (mapped ?? batch);
  }

  fail(): ModelEventBatch | undefined {
    return this.#mapped?.length === 0 ? undefined : this.#mapped;
  }
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

/**
 * Calls `see` for each event that passes; changes nothing. Events before one at which `see` throws are passed on
 * before the error.
 */
export function tapEvents(events: ModelEvents, see: (event: ModelEvent) => void): EventStream {
  return EventStream.from(events).through(new EventTap(see));
}

class EventTap implements Transform {
  readonly #see: (event: ModelEvent) => void;
  /** Events of a batch before the one at which `see` has thrown. */
  #seen: ModelEventBatch | undefined;

  constructor(see: (event: ModelEvent) => void) {
    this.#see = see;
  }

  transform(batch: ModelEventBatch): ModelEventBatch {
    let at = 0;
    try {
      for (const event of batch) {
        this.#see(event);
        at += 1;
      }
    } catch (error) {
      this.#seen = batch.slice(0, at);
      throw error;
    }
    return batch;
  }

  fail(): ModelEventBatch | undefined {
    return this.#seen?.length === 0 ? undefined : this.#seen;
  }
}
