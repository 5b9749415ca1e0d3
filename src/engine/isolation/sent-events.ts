import type { ModelEvent, ModelEventBatch } from '../../plugin/index.js';
import { AnswerGrammar, changedEvents } from '../../plugin/remote/index.js';
import { isRecord } from '../../kit/schema/record.js';
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
    const answers = new Answers();
    return {
      decode: (value) => {
        if (!Array.isArray(value)) throw new WireFault('sent events that are not a list');
        return value.map((item: unknown) => {
          if (typeof item === 'number') return answers.passed(this.#taken(item));
          const [json, choice] = Array.isArray(item) ? (item as readonly unknown[]) : [item, 0];
          return answers.made(json, choice);
        });
      },
      onEnd: () => answers.end(),
    };
  }

  /** An event that the child sends back: each once, so that few live long. */
  #taken(number: number): ModelEvent {
    const event = this.#events.get(number);
    if (!event) throw new WireFault('sent back an event that it was not sent, or had sent back');
    this.#events.delete(number);
    return event;
  }
}

/** Answers of one stream of a child, by their choice. Throws a TypeError for events that break their grammar. */
class Answers {
  readonly #grammars = new Map<number, AnswerGrammar>();
  #stopped = 0;

  /** Event that the child has made. */
  made(json: unknown, choice: unknown): ModelEvent {
    if (!isRecord(json) || typeof json['type'] !== 'string' || !/^[a-z_]{1,64}$/.test(json['type']))
      throw new TypeError('it has made an event without a type');
    if (typeof choice !== 'number' || !Number.isInteger(choice) || choice < 0 || choice > maxChoice)
      throw new TypeError('it has made an event of an invalid choice');
    const [event] = changedEvents([], [json]);
    if (!event) throw new TypeError('it has made no event');
    return this.#added(event.withChoice(choice));
  }

  /** Event that passes as it came; a delta changes nothing in the grammar, and is not parsed for it. */
  passed(event: ModelEvent): ModelEvent {
    return event.type === 'content_block_delta' ? event : this.#added(event);
  }

  end(): void {
    if (this.#stopped === 0 || this.#stopped < this.#grammars.size)
      throw new TypeError('it has ended an answer without message_stop');
  }

  #added(event: ModelEvent): ModelEvent {
    const grammar = this.#grammars.get(event.choice) ?? new AnswerGrammar();
    this.#grammars.set(event.choice, grammar);
    const fault = grammar.add(event);
    if (fault !== undefined) throw new TypeError(`it has left events of which ${fault}`);
    if (event.type === 'message_stop') this.#stopped += 1;
    return event;
  }
}

const maxChoice = 1023;
