import { EventStream, ModelEvent, type ModelEventBatch } from '../../../plugin/index.js';
import { rememberedEvents, type WireReplyChange } from '../wire/protocol.js';
import type { Streams } from '../wire/streams.js';

/**
 * Event streams of one request in the child. An event that goes back as it came is sent by its number, as long as the
 * gateway remembers it.
 */
export class ChildEvents {
  readonly #streams: Streams;
  /** Numbers of events of the gateway. */
  readonly #numbers = new WeakMap<ModelEvent, number>();
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
      const event = new ModelEvent(type, data, undefined, choice);
      this.#last = Math.max(this.#last, first + at);
      this.#numbers.set(event, first + at);
      return event;
    });
  }

  readonly #encode = (event: ModelEvent): unknown => {
    const number = this.#numbers.get(event);
    if (number !== undefined && number > this.#told - rememberedEvents) return number;
    return event.choice === 0 ? event.json : [event.json, event.choice];
  };
}
