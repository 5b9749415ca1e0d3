import { isRecord } from '../../kit/schema/record.js';
import type { MessagesStreamEvent } from '../contract/messages.js';
import { invalidPath } from '../events/event-shape.js';
import { ModelEvent } from '../events/events.js';

/**
 * Check of an answer whose events are made outside of the process: their form, and their order. Throws a TypeError whose
 * message says what is wrong, without contents.
 */
export class EventGrammar {
  /** By the choice. */
  readonly #answers = new Map<number, Answer>();

  /** Event of parsed JSON, at this place of the answer. */
  made(json: unknown, choice = 0): ModelEvent {
    if (!isRecord(json) || typeof json['type'] !== 'string')
      throw new TypeError('an event is not an object with a type');
    const { type } = json;
    if (!/^[a-z_]{1,64}$/.test(type)) throw new TypeError('an event has a type that is not a name');
    if (type === 'error') throw new TypeError('an event is an error; throw one instead');
    const invalid = invalidPath(json);
    if (invalid !== undefined) throw new TypeError(`an event of type ${type} has an invalid "${invalid}"`);
    const event = ModelEvent.of(json as unknown as MessagesStreamEvent, choice); // it has the form of its type
    const fault = this.#answerOf(choice).faultOf(event);
    if (fault !== undefined) throw new TypeError(fault);
    return event;
  }

  /** Takes an event that passes as it came. */
  passed(event: ModelEvent): void {
    this.#answerOf(event.choice).faultOf(event);
  }

  /** Checks the end of the answer. */
  end(): void {
    const answers = [...this.#answers.values()];
    if (answers.length === 0 || answers.some(({ isStopped }) => !isStopped))
      throw new TypeError('an answer ended without message_stop');
  }

  #answerOf(choice: number): Answer {
    if (!Number.isInteger(choice) || choice < 0 || choice >= maxChoices)
      throw new TypeError('an event has an invalid choice');
    const known = this.#answers.get(choice) ?? new Answer();
    this.#answers.set(choice, known);
    return known;
  }
}

const maxChoices = 1024;

/** Events of one choice so far. */
class Answer {
  readonly #open = new Set<unknown>();
  #hasStarted = false;
  isStopped = false;

  /** Takes an event; the fault of its place, or undefined. */
  faultOf(event: ModelEvent): string | undefined {
    const { type } = event;
    if (this.isStopped) return `an event of type ${type} comes after message_stop`;
    if (type === 'message_start') return this.#start();
    if (type === 'message_stop') this.isStopped = true;
    const fault = Object.hasOwn(blockFaults, type) ? this.#blockFault(type, event) : undefined;
    const isEarly = !this.#hasStarted && type !== 'ping';
    return isEarly ? `an event of type ${type} comes before message_start` : fault;
  }

  #start(): string | undefined {
    const isSecond = this.#hasStarted;
    this.#hasStarted = true;
    return isSecond ? 'an answer has a second message_start' : undefined;
  }

  #blockFault(type: string, event: ModelEvent): string | undefined {
    // A delta that passes as it came is not parsed for this.
    if (type === 'content_block_delta' && event.isReceived) return undefined;
    const { index } = event.json as { readonly index?: unknown }; // of a block's events, which have one
    const isOpen = this.#open.has(index);
    if (type === 'content_block_start') this.#open.add(index);
    else if (type === 'content_block_stop') this.#open.delete(index);
    return isOpen === (type !== 'content_block_start') ? undefined : blockFaults[type];
  }
}

const blockFaults: Readonly<Record<string, string>> = {
  content_block_start: 'a content_block_start has the index of an open block',
  content_block_delta: 'a content_block_delta has the index of no open block',
  content_block_stop: 'a content_block_stop has the index of no open block',
};
