import { EventStream, ModelEvent, type ModelEventBatch } from '../../../plugin/index.js';
import { rememberedEvents, type WireReplyChange } from '../wire/protocol.js';
import type { Streams } from '../wire/streams.js';

/**
 * Event streams of one request in the child. An event that goes back as it came is sent by its number, once, and as long
 * as the gateway remembers it.
 */
export class ChildEvents {
  readonly #streams: Streams;
  readonly #ids = new WeakMap<EventStream, number>();
  #last = 0;
  /** Last event that the gateway knows to be seen here. */
  #told = 0;

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  /** Stream of the gateway. */
  received(id: number): EventStream {
    const events = this.#streams.receive(id, {
      decode: (value) => this.#decode(value),
      seen: () => (this.#told = this.#last),
    });
    this.#ids.set(events, id);
    return events;
  }

  /** Stream of a reply of the stage. Throws a TypeError for anything else. */
  sent(events: EventStream | undefined): WireReplyChange['events'] {
    const same = events && this.#ids.get(events);
    if (same !== undefined) return { same };
    if (typeof events?.pipe !== 'function')
      throw new TypeError('The stage has made a reply whose events are not an EventStream.');
    const streamed =
      events instanceof EventStream ? events : EventStream.from(events as AsyncIterable<ModelEventBatch>);
    return { made: this.#streams.send(streamed, { encode: (batch) => batch.map(this.#encode) }) };
  }

  /** `[number of the first, [type, data] or [type, data, choice] of each]`. */
  #decode(value: unknown): ModelEventBatch {
    const [first, items] = value as readonly [number, readonly (readonly [string, string, number?])[]]; // of the gateway
    return items.map(([type, data, choice = 0], at) => {
      this.#last = Math.max(this.#last, first + at);
      return new ReceivedEvent(this, first + at, type, data, choice);
    });
  }

  readonly #encode = (event: ModelEvent): unknown => {
    const number = event instanceof ReceivedEvent ? event.takeNumber(this) : -Infinity;
    if (number > this.#told - rememberedEvents) return number;
    return event.choice === 0 ? event.json : [event.json, event.choice];
  };
}

/** Event of the gateway, with its number there. */
class ReceivedEvent extends ModelEvent {
  readonly #events: ChildEvents;
  #number: number;

  constructor(events: ChildEvents, number: number, type: string, data: string, choice: number) {
    super(type, data, undefined, choice);
    this.#events = events;
    this.#number = number;
  }

  /** Its number, for the request that it came with and the first time; else −Infinity. */
  takeNumber(events: ChildEvents): number {
    if (events !== this.#events) return -Infinity;
    const number = this.#number;
    this.#number = -Infinity;
    return number;
  }
}
