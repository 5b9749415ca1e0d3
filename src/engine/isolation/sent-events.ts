import type { ModelEvent, ModelEventBatch } from '../../plugin/index.js';
import { EventGrammar } from '../../plugin/remote/index.js';
import { rememberedEvents } from './wire/protocol.js';
import { WireFault } from './wire/frames.js';

/** Events of one request that its child process has been sent, by their numbers, for those that come back. */
export class SentEvents {
  readonly #events = new Map<number, ModelEvent>();
  #last = 0;
  #forgotten = 0;

  /** Batch as it is sent. */
  readonly encode = (batch: ModelEventBatch): unknown => {
    const first = this.#last + 1;
    const items = batch.map((event) => {
      this.#last += 1;
      this.#events.set(this.#last, event);
      return event.choice === 0 ? [event.type, event.data] : [event.type, event.data, event.choice];
    });
    return [first, items];
  };

  /** Forgets events that the child will send back with their contents. */
  readonly onSeen = (seen: number): void => {
    const until = Math.min(seen, this.#last) - rememberedEvents;
    while (this.#forgotten < until) this.#events.delete(++this.#forgotten);
  };

  /** Reader of a stream of the child. */
  decoder(): { readonly decode: (value: unknown) => ModelEventBatch; readonly onEnd: () => void } {
    const grammar = new EventGrammar();
    const event = (item: unknown): ModelEvent => {
      if (typeof item === 'number') return this.#passed(item, grammar);
      if (!Array.isArray(item)) return grammar.made(item);
      const [json, choice] = item as readonly unknown[];
      return grammar.made(json, typeof choice === 'number' ? choice : -1);
    };
    return {
      decode(value) {
        if (!Array.isArray(value)) throw new WireFault('sent events that are not a list');
        return value.map(event);
      },
      onEnd: () => grammar.end(),
    };
  }

  #passed(number: number, grammar: EventGrammar): ModelEvent {
    const event = this.#events.get(number);
    if (!event) throw new WireFault('sent back an event that it was not sent');
    grammar.passed(event);
    return event;
  }
}
